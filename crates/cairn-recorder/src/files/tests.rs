use super::*;
use crate::settings::Limits;
use expect_test::{Expect, expect};
use std::os::unix::fs::{PermissionsExt, symlink};

/// A suite's folder `work` beside other things, and the recording's own files in it.
struct Story {
    root: tempfile::TempDir,
    settings: Settings,
}

impl Story {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        for folder in ["work", "work/inputs", "work/.git", "data"] {
            fs::create_dir(path.join(folder)).unwrap();
        }
        for file in ["work/program", "work/.program.cairn-original", "work/inputs/1.json", "work/.git/HEAD"] {
            fs::write(path.join(file), "ours").unwrap();
        }
        let settings = Settings {
            program: path.join("work/program"),
            original: path.join("work/.program.cairn-original"),
            into: path.join("work/inputs"),
            session: path.join("work/inputs/.recording"),
            started: 1000,
            name: None,
            limits: Limits {
                bytes: 1000,
                files: 20,
                present_files: 4,
                present_bytes: 100,
                ..Limits::default()
            },
            baseline: vec![],
            known_variables: String::new(),
            kept_variables: vec![],
            ignored_variables: vec![],
        };
        Self { root, settings }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(relative)
    }

    fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(relative).parent().unwrap()).unwrap();
        fs::write(self.path(relative), content).unwrap();
    }

    fn link(&self, target: impl AsRef<Path>, relative: &str) {
        symlink(target, self.path(relative)).unwrap();
    }

    /// Names paths (`@` stands for the root), sweeps, and shows everything.
    fn check(&self, paths: &[&str], sweep: bool, expected: Expect) {
        let mut collector = Collector::within(self.path("work"), &self.settings, None, 0).unwrap();
        let root = self.path("");
        let root = root.to_str().unwrap().trim_end_matches('/');
        let mut lines = Vec::new();
        for path in paths {
            let found = match collector.named(path.replace('@', root).as_bytes()) {
                Ok(Found::At(place)) => format!("at {}", String::from_utf8(place).unwrap()),
                other => format!("{other:?}"),
            };
            lines.push(format!("{path}: {found}"));
        }
        if sweep {
            collector.present(&[]);
        }
        lines.extend(
            collector.files.iter().map(|file| FileRegion { owner: None, ..file.clone() }.to_string()),
        );
        lines.extend(collector.notes.iter().map(|note| format!("note: {note}")));
        expected.assert_eq(&lines.join("\n").replace(root, "ROOT"));
    }
}

#[test]
fn named_files_come_with_their_folders() {
    let story = Story::new();
    story.write("work/a/b", "text");
    fs::set_permissions(story.path("work/a"), fs::Permissions::from_mode(0o700)).unwrap();
    story.check(
        &["a/b", "./a/../a//b", "@/work/a/b", "@/work/new", "new", "@/work"],
        false,
        expect![[r#"
            a/b: Ok(AsNamed)
            ./a/../a//b: Ok(AsNamed)
            @/work/a/b: at a/b
            @/work/new: at new
            new: Ok(Nothing)
            @/work: at .
            folder a mode=0700
            file a/b: "text""#]],
    );
}

#[test]
fn links_are_followed_as_the_kernel_does() {
    let story = Story::new();
    story.write("work/d/f", "text");
    story.link("d", "work/l");
    story.link(story.path("work/d/f"), "work/d/absolute");
    story.link(story.path("data"), "work/out");
    story.link("round", "work/round");
    story.check(
        &["l/f", "d/absolute", "out/x", "round", "l/none"],
        false,
        expect![[r#"
            l/f: Ok(AsNamed)
            d/absolute: Ok(AsNamed)
            out/x: Ok(AsNamed)
            round: Ok(AsNamed)
            l/none: Ok(Nothing)
            link l -> "d"
            folder d
            file d/f: "text"
            link d/absolute -> "../d/f"
            link out -> "ROOT/data"
            link round -> "round"
            note: a named link leads out of the working folder; where it leads is not recorded"#]],
    );
}

#[test]
fn what_lies_elsewhere_gets_a_place() {
    let story = Story::new();
    story.write("data/x", "one");
    story.write("data/more/x", "two");
    story.check(
        &["../data/x", "@/data/more/x", "@/data/x", "/usr/bin", "/", "..", "@/data/more", "@/none"],
        false,
        expect![[r#"
            ../data/x: at outside/x
            @/data/more/x: at outside/2/x
            @/data/x: at outside/x
            /usr/bin: Ok(AsNamed)
            /: Ok(AsNamed)
            ..: Ok(NotTaken)
            @/data/more: at outside/more
            @/none: Ok(Nothing)
            file outside/x: "one"
            file outside/2/x: "two"
            folder outside/more
            hard link outside/more/x = outside/2/x"#]],
    );
}

#[test]
fn few_present_files_are_taken_and_many_are_not() {
    let story = Story::new();
    for name in ["work/1", "work/2", "work/3"] {
        story.write(name, name);
    }
    story.check(
        &["2"],
        true,
        expect![[r#"
            2: Ok(AsNamed)
            file 2: "work/2"
            file 1: "work/1"
            file 3: "work/3""#]],
    );
    for n in 4..8 {
        story.write(&format!("work/{n}"), "");
    }
    story.check(
        &["2"],
        true,
        expect![[r#"
            2: Ok(AsNamed)
            file 2: "work/2"
            note: the working folder holds more than the limits allow; only named files are recorded"#]],
    );
}

#[test]
fn limits_hold_for_named_files_and_folders() {
    let story = Story::new();
    story.write("work/large", vec![b'x'; 1001]);
    for n in 0..21 {
        story.write(&format!("work/d/{n}"), "");
    }
    fs::File::create(story.path("work/hole")).unwrap().set_len(1 << 40).unwrap();
    story.check(
        &["large", "d", "hole"],
        false,
        expect![[r#"
            large: Err(TooMuch)
            d: Ok(AsNamed)
            hole: Ok(AsNamed)
            folder d
            file hole: "" size=1099511627776
            note: a named folder holds more than the limits allow; it is recorded empty"#]],
    );
}

#[test]
fn names_of_one_file_stay_names_of_one_file() {
    let story = Story::new();
    story.write("work/a", "text");
    fs::hard_link(story.path("work/a"), story.path("work/b")).unwrap();
    nix::unistd::mkfifo(&story.path("work/pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    story.check(
        &["b", "a", "pipe"],
        false,
        expect![[r#"
            b: Ok(AsNamed)
            a: Ok(AsNamed)
            pipe: Ok(AsNamed)
            file b: "text"
            hard link a = b
            pipe pipe mode=0700"#]],
    );
}

#[test]
fn chosen_times_are_kept_and_others_are_not() {
    let story = Story::new();
    story.write("work/old", "");
    story.write("work/new", "");
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(77);
    let times = fs::FileTimes::new().set_modified(then);
    fs::File::options().write(true).open(story.path("work/old")).unwrap().set_times(times).unwrap();
    story.check(
        &["old", "new"],
        false,
        expect![[r#"
            old: Ok(AsNamed)
            new: Ok(AsNamed)
            file old: "" modified=77
            file new: """#]],
    );
}
