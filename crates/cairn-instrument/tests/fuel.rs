//! Programs that never end, and some that do, built as views with fuel and run.

use cairn_abi::{channel::RUNTIME_EXIT_CODE, view::ViewKind};
use cairn_instrument::{
    emit,
    fuel::Fuel,
    ir::read_module,
    lower::lower,
    mapping::{self, Options},
    scope::Scope,
};
use cairn_testkit::{Ran, Workspace, dist};
use inkwell::context::Context;
use std::collections::BTreeMap;

/// Sets the fuel before `main`, and tells what is left after it.
const GAUGE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
extern unsigned long __cairn_fuel[512];
__attribute__((constructor)) static void fill(void) {
  const char *fuel = getenv("FUEL");
  if (fuel)
    __cairn_fuel[0] = strtoul(fuel, 0, 10);
}
__attribute__((destructor)) static void tell(void) {
  printf("left %lu\n", __cairn_fuel[0]);
}
"#;

struct View {
    workspace: Workspace,
}

impl View {
    /// Builds a view of one source file, `program.c` or `program.cpp`.
    fn build(file: &str, source: &str, fuel: Fuel) -> Self {
        let workspace = Workspace::new();
        let compiler = if file.ends_with(".cpp") { "clang++-19" } else { "clang-19" };
        workspace.write(file, source);
        let options = ["-g", "-O2", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm"];
        workspace.run(compiler, options.into_iter().chain(["-o", "program.bc", file])).success();

        write_object(&workspace, fuel);
        workspace.write("gauge.c", GAUGE);
        let archive = dist().runtime_archive().display().to_string();
        workspace.run("clang-19", ["-c", "gauge.c"]).success();
        let words = ["-fuse-ld=lld", "-o", "program", "program.o", "gauge.o", &archive];
        workspace.run(compiler, words).success();
        Self { workspace }
    }

    fn c(source: &str) -> Self {
        Self::build("program.c", source, Fuel::WhereCallsAre)
    }

    /// Runs with this much fuel.
    fn run(&self, fuel: u64) -> Ran {
        let mut command = self.workspace.command(self.workspace.path("program"));
        Ran::of(command.env("FUEL", fuel.to_string()), b"")
    }

    /// Panics unless the program ends by running out of fuel.
    #[track_caller]
    fn runs_out(&self) {
        let ran = self.run(100_000).exits_with(RUNTIME_EXIT_CODE);
        assert!(ran.stderr.contains("out of fuel"), "{ran}");
    }

    /// How much fuel the program uses until it ends by itself.
    #[track_caller]
    fn used(&self) -> u64 {
        const PLENTY: u64 = 1 << 40;
        let ran = self.run(PLENTY).success();
        let left = ran.stdout.trim().strip_prefix("left ").and_then(|left| left.parse::<u64>().ok());
        PLENTY - left.unwrap_or_else(|| panic!("the gauge tells what is left\n{ran}"))
    }
}

/// Makes `program.o` from `program.bc`.
fn write_object(workspace: &Workspace, fuel: Fuel) {
    let context = Context::create();
    let module = emit::read(&context, &workspace.path("program.bc")).expect("clang writes bitcode");
    let (scope, units) = (Scope::default(), BTreeMap::new());
    let root = workspace.root().display().to_string();
    let options = Options { root: &root, scope: &scope, units: &units, bitcode_hash: [0; 32] };
    let (map, plan) = mapping::build(&read_module(&module), &options);
    lower(&module, &plan, ViewKind::Plain, &map.hash());
    module.strip_debug_info();
    let object = workspace.path("program.o");
    emit::write_object(&module, emit::Effort::Full, Some(fuel), &object).expect("a view can be written");
}

#[test]
fn a_loop_with_a_call_runs_out() {
    View::c("#include <unistd.h>\nint main(void) { for (;;) getppid(); }").runs_out();
}

#[test]
fn a_loop_around_an_indirect_call_runs_out() {
    let source = "
        static int zero(void) { return 0; }
        int (*volatile hook)(void) = zero;
        int main(void) { while (!hook()) {} }";
    View::c(source).runs_out();
}

#[test]
fn recursion_turned_into_a_loop_runs_out() {
    let source = "
        #include <unistd.h>
        static int odd(unsigned n);
        static int even(unsigned n) { return getppid() == 0 ? 1 : odd(n + 1); }
        static int odd(unsigned n) { return getppid() == 0 ? 0 : even(n + 1); }
        int main(void) { return even(0); }";
    View::c(source).runs_out();
}

#[test]
fn recursion_by_tail_calls_runs_out() {
    let source = "
        volatile int never;
        __attribute__((noinline)) static int odd(unsigned n);
        __attribute__((noinline)) static int even(unsigned n) {
          if (never) return 1;
          __attribute__((musttail)) return odd(n + 1);
        }
        static int odd(unsigned n) {
          if (never) return 0;
          __attribute__((musttail)) return even(n + 1);
        }
        int main(void) { return even(0); }";
    View::c(source).runs_out();
}

#[test]
fn goto_runs_out() {
    let source = "
        #include <unistd.h>
        int main(int argc, char **argv) {
          if (argc > 1) goto inside;
        again:
          getppid();
        inside:
          if (getpid() == 0) return 0;
          goto again;
        }";
    View::c(source).runs_out();
}

#[test]
fn computed_goto_runs_out() {
    let source = "
        #include <unistd.h>
        int main(int argc, char **argv) {
          static void *const ways[] = {&&a, &&b, &&end};
          volatile int way = 0;
        a:
          getppid();
          goto *ways[way + 1];
        b:
          goto *ways[way];
        end:
          return 0;
        }";
    View::c(source).runs_out();
}

#[test]
fn nested_loops_without_calls_run_out() {
    let source = "
        volatile int never, n = 10;
        int main(void) {
          while (!never)
            for (int i = 0; i < n; i++) {}
        }";
    View::c(source).runs_out();
}

#[test]
fn a_callback_that_outside_code_calls_again_and_again_uses_fuel() {
    let source = "
        #include <stdlib.h>
        static int compare(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
        static char items[1000];
        int main(void) { qsort(items, sizeof items, 1, compare); }";
    let used = View::c(source).used();
    assert!(used > 1000, "{used}");
}

#[test]
fn longjmp_runs_out() {
    let source = "
        #include <setjmp.h>
        static jmp_buf place;
        int main(void) { setjmp(place); longjmp(place, 1); }";
    View::c(source).runs_out();
}

#[test]
fn exceptions_thrown_forever_run_out() {
    let source = "
        __attribute__((noinline)) static void thrower(int n) { throw n; }
        int main() {
          for (int n = 0;; n++) { try { thrower(n); } catch (int) {} }
        }";
    View::build("program.cpp", source, Fuel::WhereCallsAre).runs_out();
}

#[test]
fn an_innermost_loop_without_calls_runs_out_where_all_loops_use_fuel() {
    let source = "
        volatile int never;
        int main(void) { while (!never) {} return 0; }";
    View::build("program.c", source, Fuel::Everywhere).runs_out();
}

#[test]
fn loops_in_registers_write_back_what_they_used() {
    let source = "
        volatile int n = 1000;
        int main(void) {
          for (int i = 0; i < n; i++) {}
          for (int i = 0; i < n; i++) if (i == n - 1) break;
          return 0;
        }";
    let [where_calls_are, everywhere] =
        [Fuel::WhereCallsAre, Fuel::Everywhere].map(|fuel| View::build("program.c", source, fuel).used());
    // One step for `main`, whose address is taken; then two loops of a thousand turns.
    assert_eq!(where_calls_are, 1);
    assert!((1990..=2010).contains(&everywhere), "{everywhere}");
}

#[test]
fn no_fuel_is_no_limit() {
    View::c("#include <unistd.h>\nint main(void) { for (int i = 0; i < 1000; i++) getppid(); }")
        .run(0)
        .success();
}

#[test]
fn the_last_step_is_the_one_that_uses_the_fuel_up() {
    let view = View::c("#include <unistd.h>\nint main(void) { for (int i = 0; i < 1000; i++) getppid(); }");
    let used = view.used();
    view.run(used + 1).success();
    view.run(used).exits_with(RUNTIME_EXIT_CODE);
}

#[test]
fn the_same_input_uses_the_same_fuel() {
    let source = "
        #include <stdlib.h>
        #include <string.h>
        struct node { struct node *left, *right; unsigned key; };
        static struct node *insert(struct node *tree, unsigned key) {
          if (!tree) { tree = calloc(1, sizeof *tree); tree->key = key; }
          else if (key < tree->key) tree->left = insert(tree->left, key);
          else if (key > tree->key) tree->right = insert(tree->right, key);
          return tree;
        }
        int main(void) {
          struct node *tree = 0;
          for (unsigned i = 0; i < 500; i++) tree = insert(tree, i * 2654435761u);
          return tree == 0;
        }";
    for fuel in [Fuel::WhereCallsAre, Fuel::Everywhere] {
        let view = View::build("program.c", source, fuel);
        let used = view.used();
        assert!(used > 500, "{used}");
        assert_eq!(used, view.used());
    }
}

#[test]
fn the_same_bitcode_becomes_the_same_object() {
    let source = "
        int count(const char *text, char a, char b) {
          int n = 0;
          for (const char *p = text; *p; p++) { if (*p == a) return n; n += *p == b; }
          for (const char *p = text; *p; p++) { if (*p == b) return -n; n ^= *p; }
          return n;
        }
        int main(int argc, char **argv) { return count(argv[0], 'a', 'b'); }";
    let view = View::build("program.c", source, Fuel::Everywhere);
    let object = || std::fs::read(view.workspace.path("program.o")).expect("the object was written");
    let first = object();
    write_object(&view.workspace, Fuel::Everywhere);
    assert!(object() == first, "two objects differ");
}
