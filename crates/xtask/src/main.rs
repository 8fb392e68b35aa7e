//! Repository tasks: distribution folder, tests, tidy, bless.
//!
//! ```console
//! $ cargo xtask dist     # what a user installs, in <target folder>/dist
//! $ cargo xtask test     # tidy, dist, then every test
//! ```

mod dist;
mod models;
mod process;
mod targets;
mod tests;
mod tidy;
mod workspace;

use anyhow::bail;
use workspace::Workspace;

const HELP: &str = "\
usage: cargo xtask TASK

  dist [--release]   assemble <target folder>/dist: programs, archives, headers
  test [ARGUMENTS]   tidy, dist, then all tests; arguments go to the test runner
  bless [ARGUMENTS]  the same, accepting what the tests produce as expected
  tidy               check layers, invariants, licences and fixtures
  lint               check format and lints
  ci                 lint and test
  targets fetch|build|record NAME…|all [--fresh], targets list
                     real programs: their sources, builds with views, and recorded inputs;
                     --fresh starts from nothing
";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((task, rest)) = arguments.split_first() else { bail!("no task given\n\n{HELP}") };
    let workspace = Workspace::load()?;
    match task.as_str() {
        "dist" => {
            let profile = dist::Profile::from_arguments(rest)?;
            let folder = dist::assemble(&workspace, profile)?;
            println!("{}", folder.display());
            Ok(())
        }
        "test" => tests::run(&workspace, rest, tests::Expectations::Check),
        "bless" => tests::run(&workspace, rest, tests::Expectations::Accept),
        "targets" => targets::run(&workspace, rest),
        "tidy" => tidy::run(&workspace),
        "lint" => tests::lint(&workspace),
        "ci" => {
            tests::lint(&workspace)?;
            tests::run(&workspace, &[], tests::Expectations::Check)
        }
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        unknown => bail!("there is no task `{unknown}`\n\n{HELP}"),
    }
}
