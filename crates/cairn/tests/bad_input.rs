//! Bad input gets an error that says what happened and what to try.

use cairn_testkit::Workspace;

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

/// A workspace with a program built by `cairn-cc`.
fn hello() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("hello.c", HELLO);
    workspace.run("cairn-cc", ["hello.c", "-o", "hello"]).success();
    workspace
}

/// Runs `cairn` and checks its exit code and that stderr holds every part.
#[track_caller]
fn fails(workspace: &Workspace, arguments: &[&str], code: i32, parts: &[&str]) {
    let ran = workspace.run("cairn", arguments).exits_with(code);
    for part in parts {
        assert!(ran.stderr.contains(part), "`{part}` is missing in:\n{ran}");
    }
}

#[test]
fn an_executable_without_bitcode_is_named_with_a_hint() {
    let workspace = Workspace::new();
    // A program that nobody built with `cairn-cc`: equal executables have equal build ids.
    workspace.write("hello.c", HELLO.replace("hello", "built by clang"));
    workspace.run("clang-19", ["hello.c", "-o", "hello", "-Wl,--build-id"]).success();
    fails(
        &workspace,
        &["build", "./hello"],
        4,
        &["no bitcode was recorded for `./hello`", "hint: ", "cairn-cc"],
    );
}

#[test]
fn a_script_is_not_a_program() {
    let workspace = Workspace::new();
    workspace.write("script", "#!/bin/sh\necho hello\n");
    fails(&workspace, &["build", "./script"], 4, &["`./script` is not an ELF executable", "hint: "]);
}

#[test]
fn a_missing_program_is_named() {
    let workspace = Workspace::new();
    fails(&workspace, &["build", "./nowhere"], 4, &["failed to read `./nowhere`"]);
    fails(&workspace, &["build"], 2, &["no program was named", "hint: "]);
}

#[test]
fn source_that_does_not_compile_fails_as_with_clang() {
    let workspace = Workspace::new();
    workspace.write("broken.c", "int main(void) { return x; }\n");
    let ran = workspace.run("cairn-cc", ["broken.c", "-o", "broken"]).exits_with(1);
    assert!(ran.stderr.contains("use of undeclared identifier 'x'"), "{ran}");
    assert_eq!(ran.stderr.matches("undeclared identifier").count(), 1, "said once, not twice: {ran}");
    assert!(!workspace.path("broken").exists());
}

#[test]
fn a_harness_without_entry_point_does_not_link() {
    let workspace = Workspace::new();
    workspace.write("harness.c", "int helper(void) { return 1; }\n");
    let ran = workspace.run("cairn-cc", ["harness.c", "-o", "harness"]).exits_with(1);
    assert!(ran.stderr.contains("LLVMFuzzerTestOneInput"), "{ran}");
}

#[test]
fn a_view_of_another_build_is_refused() {
    let workspace = hello();
    workspace.write("other.c", "int main(int c, char **v) { return c > 1 ? 1 : v == 0; }\n");
    workspace.run("cairn-cc", ["other.c", "-o", "other"]).success();
    for program in ["./hello", "./other"] {
        workspace.run("cairn", ["build", program]).success();
    }
    let views = |name: &str| {
        workspace.sh(&format!(
            "for d in .cairn/*/views/*; do strings \"$d/../../record.json\" | grep -q '\"name\": \"{name}\"' && echo $d; done"
        ))
    };
    let (ours, theirs) = (views("hello").stdout, views("other").stdout);
    workspace.sh(&format!("cp {}/plain {}/plain", theirs.trim(), ours.trim())).success();
    fails(&workspace, &["replay", "./hello"], 4, &["come from different builds", "hint: "]);
}

#[test]
fn a_damaged_map_is_refused() {
    let workspace = hello();
    workspace.run("cairn", ["build", "./hello"]).success();
    workspace.sh("for m in .cairn/*/views/*/program.map; do printf garbage > $m; done").success();
    fails(&workspace, &["map", "./hello"], 4, &["is not a program map", "hint: "]);
}

#[test]
fn a_wrong_configuration_names_the_key() {
    let workspace = hello();
    workspace.write("cairn.toml", "[run]\nsandbocks = \"full\"\n");
    fails(&workspace, &["build", "./hello"], 2, &["cairn.toml", "sandbocks"]);
    workspace.write("cairn.toml", "[run]\nsandbox = \"none\"\n");
    fails(&workspace, &["build", "./hello"], 2, &["`none` is not a sandbox level"]);
}

#[test]
fn a_scope_without_functions_is_an_error() {
    let workspace = hello();
    workspace.write("cairn.toml", "[scope]\nfiles = [\"nowhere/*.c\"]\n");
    fails(&workspace, &["build", "./hello"], 4, &["no function of `./hello` is in scope", "[scope]"]);
}

#[test]
fn missing_broken_and_oversized_inputs_are_named() {
    let workspace = hello();
    fails(&workspace, &["cover", "./hello"], 2, &["no inputs were named", "hint: "]);
    fails(&workspace, &["cover", "./hello", "nowhere"], 2, &["failed to read input `nowhere`"]);
    workspace.write("bad.json", "{\"args\": 5}");
    fails(&workspace, &["cover", "./hello", "bad.json"], 2, &["`bad.json` is not an input"]);
    workspace.write("escape.json", "{\"files\": [{\"path\": \"../x\", \"kind\": \"folder\"}]}");
    fails(&workspace, &["cover", "./hello", "escape.json"], 4, &["../x"]);
    workspace.write("large", vec![b'x'; (1 << 20) + 1]);
    fails(&workspace, &["cover", "./hello", "large"], 2, &["more than the limit", "input.max_size"]);
    workspace.sh("mkdir empty").success();
    fails(&workspace, &["cover", "./hello", "empty"], 2, &["there are no inputs in `empty`"]);
}

#[test]
fn an_empty_file_is_an_input() {
    let workspace = hello();
    workspace.write("empty", "");
    workspace.run("cairn", ["cover", "./hello", "empty"]).success();
}

#[test]
fn init_does_not_overwrite() {
    let workspace = hello();
    workspace.run("cairn", ["init", "./hello"]).success();
    workspace.run("cairn", ["build"]).success();
    fails(&workspace, &["init", "./hello"], 2, &["`cairn.toml` is already here", "hint: "]);
}

#[test]
fn a_crash_before_main_is_told_apart() {
    let workspace = Workspace::new();
    workspace.write(
        "early.c",
        "#include <stdlib.h>\n__attribute__((constructor)) static void early(void) { abort(); }\nint main(void) { return 0; }\n",
    );
    workspace.run("cairn-cc", ["early.c", "-o", "early"]).success();
    let ran = workspace.run("cairn", ["replay", "./early"]).exits_with(3);
    assert!(ran.stdout.contains("dies of SIGABRT, before `main` was entered"), "{ran}");
}

#[test]
fn a_missing_compiler_is_named_with_its_package() {
    let workspace = Workspace::new();
    workspace.write("hello.c", HELLO);
    let cairn_cc = cairn_testkit::dist().cairn_cc();
    // Debian's own folder of LLVM is searched too, so hide it from view in a mount namespace.
    let script = format!(
        "mkdir -p empty && mount --bind empty /usr/lib/llvm-19/bin && PATH=$PWD/empty XDG_CACHE_HOME=$PWD/cache {} hello.c -o hello",
        cairn_cc.display()
    );
    let ran = workspace.run("unshare", ["-Urm", "/bin/sh", "-c", &script]).exits_with(1);
    assert!(ran.stderr.contains("clang-19"), "{ran}");
    assert!(ran.stderr.contains("hint: "), "{ran}");
}

#[test]
fn a_wrong_major_version_is_named() {
    let workspace = Workspace::new();
    workspace.write("hello.c", HELLO);
    workspace.write("bin/clang-19", "#!/bin/sh\necho 'clang version 14.0.6'\n");
    let script = "chmod +x bin/clang-19 && cp bin/clang-19 bin/clang++-19 && \
                  PATH=$PWD/bin:$PATH XDG_CACHE_HOME=$PWD/cache cairn-cc hello.c -o hello";
    let ran = workspace.sh(script).exits_with(1);
    assert!(ran.stderr.contains("is clang 14, Cairn needs clang 19"), "{ran}");
}
