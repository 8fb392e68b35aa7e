//! Stock build systems, with nothing changed but the compiler.

use crate::project::{MAIN, Project, TWICE, assert_defines, need, units};

const CONFIGURE: &str = r#"#!/bin/sh
# What autoconf's scripts do to a compiler, in a few lines.
set -e
: "${CC:=cc}"
try() { "$@" > conftest.log 2>&1; }
echo 'int main(void) { return 0; }' > conftest.c
try $CC conftest.c || { echo "C compiler cannot create executables"; exit 77; }
test -f a.out; ./a.out
try $CC --version; try $CC -v; $CC -V > /dev/null 2>&1 || true
try $CC -c conftest.c; test -f conftest.o
try $CC -E conftest.c
flags=
for flag in -Wlogical-op -fno-tree-dce -Wall -fstack-protector-strong; do
  if try $CC -Werror $flag -c conftest.c; then flags="$flags $flag"; fi
done
echo 'char no_such_function(); int main(void) { return no_such_function(); }' > conftest.c
if try $CC conftest.c -o conftest; then echo "links what does not exist"; exit 1; fi
echo 'char sqrt(); int main(void) { return sqrt(); }' > conftest.c
try $CC conftest.c -o conftest -lm
rm -f conftest* a.out
cat > Makefile <<END
CC = $CC
CFLAGS = -g -O2$flags
prog: main.o libtwice.a
	\$(CC) \$(CFLAGS) main.o -L. -ltwice -lm -o prog
libtwice.a: twice.o
	ar cru libtwice.a twice.o
	ranlib libtwice.a
.c.o:
	\$(CC) \$(CFLAGS) -MT \$@ -MD -MP -MF \$*.Tpo -c -o \$@ \$<
	mv -f \$*.Tpo \$*.Po
install: prog
	mkdir -p \$(DESTDIR)/usr/bin
	install -s prog \$(DESTDIR)/usr/bin/prog
END
"#;

#[test]
fn configure_and_make_build_and_install() {
    let project = Project::new(&[("configure", CONFIGURE), ("main.c", MAIN), ("twice.c", TWICE)]);
    let said = project.sh("CC=cairn-cc ./configure && make -j4 && make install DESTDIR=$PWD/root");
    assert!(said.contains("-Wall -fstack-protector-strong") && !said.contains("-fno-tree-dce"), "{said}");
    assert_eq!(project.sh("./root/usr/bin/prog"), "2\n");
    let record = project.record("root/usr/bin/prog");
    assert_eq!(units(&record), ["main.c", "twice.c"]);
    assert_eq!(record.root, project.path());
    let records = project.sh("ls .cairn | grep -v cache");
    assert_eq!(records.lines().count(), 1, "a probe was recorded: {records}");
}

#[test]
fn relinking_for_installation_is_recorded_like_any_link() {
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE)]);
    // libtool's way: position-independent objects, a convenience archive, a program in .libs and another link for the
    // installed one.
    project.sh("mkdir .libs && cairn-cc -c twice.c -fPIC -DPIC -o .libs/twice.o && cairn-cc -c twice.c -o twice.o && \
                ar cr .libs/libtwice.a .libs/twice.o && ranlib .libs/libtwice.a && cairn-cc -c main.c && \
                cairn-cc -o .libs/prog main.o ./.libs/libtwice.a && \
                cairn-cc -o .libs/progT main.o ./.libs/libtwice.a -Wl,-rpath -Wl,/usr/local/lib");
    for program in [".libs/prog", ".libs/progT"] {
        let record = project.record(program);
        assert_eq!(units(&record), ["main.c", "twice.c"]);
        assert_defines(&record, &["twice"]);
    }
}

#[test]
fn cmake_builds_libraries_and_programs() {
    need("cmake", "cmake");
    need("ninja", "ninja-build");
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(demo C CXX)\ninclude(CheckCSourceCompiles)\n\
                 check_c_source_compiles(\"int main(void) { return 0; }\" WORKS)\n\
                 if(NOT WORKS)\nmessage(FATAL_ERROR \"probe failed\")\nendif()\n\
                 add_library(twice STATIC twice.c)\nadd_executable(prog main.c extra.cpp)\n\
                 target_precompile_headers(prog PRIVATE <stdio.h>)\n\
                 target_link_libraries(prog twice m)\ninstall(TARGETS prog DESTINATION bin)\n";
    let project = Project::new(&[
        ("src/CMakeLists.txt", lists),
        ("src/main.c", MAIN),
        ("src/twice.c", TWICE),
        ("src/extra.cpp", "int extra() { try { throw 1; } catch (int n) { return n; } }\n"),
    ]);
    project.sh("CC=cairn-cc CXX=cairn-c++ cmake -G Ninja -S src -B build -DCMAKE_BUILD_TYPE=Release \
                -DCMAKE_INSTALL_PREFIX=$PWD/root && cmake --build build && cmake --install build --strip");
    assert_eq!(project.sh("root/bin/prog"), "2\n");
    let record = project.record("root/bin/prog");
    assert_eq!(units(&record), ["main.c", "extra.cpp", "twice.c"]);
    assert_eq!(record.root, project.path().join("src"));
    assert!(record.is_cxx);
    assert!(project.has("build/.cairn") && !project.has("src/.cairn"));
    assert!(record.native.is_empty(), "{:?}", record.native);
}

#[test]
fn meson_builds_libraries_and_programs() {
    need("meson", "meson");
    need("ninja", "ninja-build");
    let build = "project('demo', 'c', default_options: ['buildtype=release', 'b_lto=false'])\n\
                 cc = meson.get_compiler('c')\nassert(cc.compiles('int main(void) { return 0; }'))\n\
                 assert(cc.has_function('printf'))\nm = cc.find_library('m')\n\
                 lib = static_library('twice', 'twice.c')\n\
                 executable('prog', 'main.c', link_with: lib, dependencies: m)\n";
    let project = Project::new(&[("meson.build", build), ("main.c", MAIN), ("twice.c", TWICE)]);
    project.sh("CC=cairn-cc meson setup build && ninja -C build");
    assert_eq!(project.sh("build/prog"), "2\n");
    let record = project.record("build/prog");
    assert_eq!(units(&record), ["main.c", "twice.c"]);
    assert_eq!(record.root, project.path());
}

#[test]
fn hits_in_ccache_keep_the_payload() {
    need("ccache", "ccache");
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE)]);
    let build = "export CCACHE_DIR=$PWD/ccache; for f in main twice; do ccache cairn-cc -O2 -MD -c $f.c -o $f.o; done; \
                 cairn-cc main.o twice.o -o prog";
    project.sh(build);
    let first = project.bytes("twice.o");
    project.sh("rm -rf *.o prog .cairn");
    project.sh(build);
    let statistics = project.sh("CCACHE_DIR=$PWD/ccache ccache --print-stats");
    let hits: u32 = statistics
        .lines()
        .filter_map(|line| {
            line.strip_prefix("direct_cache_hit\t").or(line.strip_prefix("preprocessed_cache_hit\t"))
        })
        .map(|count| count.parse::<u32>().unwrap())
        .sum();
    assert_eq!(hits, 2, "{statistics}");
    assert_eq!(project.bytes("twice.o"), first);
    assert_eq!(units(&project.record("prog")), ["main.c", "twice.c"]);
}
