//! The targets.
//!
//! A program's scope is its own source files and those library files of its package that were written for it; code
//! that many programs share (gnulib) is out, whoever uses it.

use crate::{
    error::TargetsError,
    package::AUTOTOOLS,
    target::{Input, Kind, Target},
};

/// Every target, in the order in which they are listed.
pub fn targets() -> &'static [Target] {
    TARGETS
}

/// Finds a target by name.
pub fn find(name: &str) -> Result<&'static Target, TargetsError> {
    TARGETS.iter().find(|target| target.name == name).ok_or_else(|| TargetsError::Unknown {
        name: name.into(),
        kind: "target",
        known: TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", "),
    })
}

/// Only one program of coreutils, which has a hundred: what must exist before anything compiles, then the program.
const ONLY_SORT: &str = "\
\"$SRC/configure\" --disable-nls CC=\"$CC\" CFLAGS=\"$FLAGS\"
printf 'include Makefile\\nprepared: $(BUILT_SOURCES)\\n' > prepared.mk
make -j$(nproc) -f prepared.mk prepared
make -j$(nproc) src/sort";

/// A busybox with two applets and all their features, in place of four hundred: the same source files, built in
/// seconds. The command `busybox` itself stays, so that argv[0] decides as it does in any busybox. `DESKTOP` makes
/// `ls` print totals, which its own tests expect.
const BUSYBOX: &str = "\
make allnoconfig
for option in BUSYBOX DESKTOP SHOW_USAGE FEATURE_VERBOSE_USAGE LONG_OPTS LFS FEATURE_HUMAN_READABLE UNICODE_SUPPORT \
    LS FEATURE_LS_FILETYPES FEATURE_LS_FOLLOWLINKS FEATURE_LS_RECURSIVE FEATURE_LS_WIDTH FEATURE_LS_SORTFILES \
    FEATURE_LS_TIMESTAMPS FEATURE_LS_USERNAME FEATURE_LS_COLOR PRINTF; do
  sed -i \"/^# CONFIG_$option is not set/d; /^CONFIG_$option=/d\" .config
  echo CONFIG_$option=y >> .config
done
sed -i '/CONFIG_SUBST_WCHAR/d; /CONFIG_LAST_SUPPORTED_WCHAR/d' .config
printf 'CONFIG_SUBST_WCHAR=63\\nCONFIG_LAST_SUPPORTED_WCHAR=767\\n' >> .config
(set +o pipefail; yes '' | make oldconfig) > oldconfig.txt
for option in DESKTOP FEATURE_LS_COLOR PRINTF; do grep -qx CONFIG_$option=y .config; done
make -j$(nproc) CC=\"$CC\" EXTRA_CFLAGS=\"$FLAGS\"";

/// busybox tests `ls` on the folder of its tests by absolute path, which differs from machine to machine and is not
/// recorded. Here the folder is one in the working folder, with the same files.
const BUSYBOX_LS_SUITE: &str = "\
cd testsuite
sed 's|^\t*d=\"$tsdir\"|cp -R \"$tsdir/ls\" sample; d=sample|' runtest > runtest-here
grep -q 'd=sample' runtest-here || { echo 'runtest names its folder in another way'; exit 1; }
sh ./runtest-here ls";

const TARGETS: &[Target] = &[
    Target {
        name: "sort",
        package: Some("coreutils"),
        kind: Kind::Program,
        build: AUTOTOOLS,
        build_program: Some(ONLY_SORT),
        executable: "src/sort",
        program_name: "sort",
        scope: &["src/sort.c", "lib/heap.c"],
        input: Input::Suite {
            needs: &[],
            command: "make check SUBDIRS=. TESTS=\"$(echo tests/misc/sort*.sh tests/misc/sort*.pl)\"",
            is_applet: false,
            least: 100,
        },
    },
    Target {
        name: "grep",
        package: Some("grep"),
        kind: Kind::Program,
        build: AUTOTOOLS,
        // A patch of Debian's puts a declaration behind a label, which AFL++'s clang-14 does not take.
        build_program: Some(
            "grep -q '^ *stray_backslash:$' lib/dfa.c && \
             sed -i 's/^ *stray_backslash:$/&;/' lib/dfa.c && \
             \"$SRC/configure\" --disable-nls CC=\"$CC\" CFLAGS=\"$FLAGS\" && make -j$(nproc)",
        ),
        executable: "src/grep",
        program_name: "grep",
        scope: &["src/*.c", "lib/dfa.c", "lib/localeinfo.c"],
        input: Input::Suite { needs: &[], command: "make -C tests check", is_applet: false, least: 100 },
    },
    Target {
        name: "sed",
        package: Some("sed"),
        kind: Kind::Program,
        build: AUTOTOOLS,
        build_program: None,
        executable: "sed/sed",
        program_name: "sed",
        scope: &["sed/*.c"],
        input: Input::Suite { needs: &[], command: "make check SUBDIRS=.", is_applet: false, least: 80 },
    },
    Target {
        name: "find",
        package: Some("findutils"),
        kind: Kind::Program,
        build: AUTOTOOLS,
        build_program: None,
        executable: "find/find",
        program_name: "find",
        scope: &["find/*.c", "lib/*.c"],
        input: Input::Suite {
            needs: &["dejagnu"],
            command: "make -C find check; make check SUBDIRS=. TESTS=\"$(echo tests/find/*.sh)\"",
            is_applet: false,
            least: 100,
        },
    },
    Target {
        name: "busybox-ls",
        package: Some("busybox"),
        kind: Kind::Program,
        build: BUSYBOX,
        build_program: None,
        executable: "busybox",
        program_name: "ls",
        scope: &["coreutils/ls.c"],
        input: Input::Suite { needs: &[], command: BUSYBOX_LS_SUITE, is_applet: true, least: 8 },
    },
    Target {
        name: "busybox-printf",
        package: Some("busybox"),
        kind: Kind::Program,
        build: BUSYBOX,
        build_program: None,
        executable: "busybox",
        program_name: "printf",
        scope: &["coreutils/printf.c"],
        input: Input::Suite {
            needs: &[],
            command: "cd testsuite; ./runtest printf",
            is_applet: true,
            least: 24,
        },
    },
    Target {
        name: "cjson",
        package: Some("cjson"),
        kind: Kind::Harness("cjson.c"),
        build:
            "cmake -G Ninja . -DCMAKE_C_COMPILER=\"$CC\" -DCMAKE_C_FLAGS=\"$FLAGS\" -DBUILD_SHARED_LIBS=OFF \
                -DENABLE_CJSON_UTILS=ON -DENABLE_CJSON_TEST=OFF && ninja
                $CC $FLAGS $LINK -I\"$INCLUDE\" -I. \"$HARNESS\" libcjson_utils.a libcjson.a -lm -o harness",
        build_program: None,
        executable: "harness",
        program_name: "cjson",
        scope: &["cJSON.c", "cJSON_Utils.c"],
        input: Input::Samples(&["fuzzing/inputs/*", "tests/inputs/test*"]),
    },
    Target {
        name: "libyaml",
        package: Some("libyaml"),
        kind: Kind::Harness("libyaml.c"),
        build:
            "cmake -G Ninja . -DCMAKE_C_COMPILER=\"$CC\" -DCMAKE_C_FLAGS=\"$FLAGS\" -DBUILD_SHARED_LIBS=OFF \
                -DBUILD_TESTING=OFF && ninja
                $CC $FLAGS $LINK -I\"$INCLUDE\" -Iinclude \"$HARNESS\" libyaml.a -o harness",
        build_program: None,
        executable: "harness",
        program_name: "libyaml",
        // Most of its conditions are in macros of a header.
        scope: &["src/*.c", "src/*.h"],
        input: Input::Samples(&["examples/*.yaml", "regression-inputs/*"]),
    },
    Target {
        name: "lodepng",
        package: Some("lodepng"),
        kind: Kind::Harness("lodepng.c"),
        // Its own documentation says that the one file may be renamed and compiled as C.
        build: "cp lodepng.cpp lodepng.c
                $CC $FLAGS -c lodepng.c
                $CC $FLAGS $LINK -I\"$INCLUDE\" -I. \"$HARNESS\" lodepng.o -o harness",
        build_program: None,
        executable: "harness",
        program_name: "lodepng",
        scope: &["lodepng.c"],
        input: Input::Samples(&["*.png", "debian/*.png"]),
    },
    Target {
        name: "tiny",
        package: None,
        kind: Kind::Harness("tiny.c"),
        build: "$CC $FLAGS $LINK \"$HARNESS\" -o harness",
        build_program: None,
        executable: "harness",
        program_name: "tiny",
        scope: &[],
        input: Input::Samples(&[]),
    },
    fixture("red-black-tree", "../../fixtures/seeds_red_black_tree/target.c"),
    fixture("tree-map", "../../fixtures/seeds_tree_map/target.c"),
    fixture("collision-avoidance", "../../fixtures/seeds_collision_avoidance/target.c"),
];

/// A harness of our own in one file, without samples.
const fn fixture(name: &'static str, file: &'static str) -> Target {
    Target {
        name,
        package: None,
        kind: Kind::Harness(file),
        build: "$CC $FLAGS -g $LINK \"$HARNESS\" -o harness",
        build_program: None,
        executable: "harness",
        program_name: name,
        scope: &[],
        input: Input::Samples(&[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct_and_packages_exist() {
        let names: BTreeSet<_> = targets().iter().map(|target| target.name).collect();
        assert_eq!(names.len(), targets().len());
        for target in targets() {
            if let Some(package) = target.package {
                assert!(crate::package(package).is_ok(), "{package}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = find("nonsense").unwrap_err().to_string();
        assert!(error.contains("`nonsense`") && error.contains("busybox-ls"), "{error}");
    }
}
