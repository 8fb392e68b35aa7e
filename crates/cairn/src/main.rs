//! `cairn`: tests for C and C++ programs.
//!
//! This crate is the command line: it reads arguments and `cairn.toml`, wires the libraries together and prints.
//! Each command is a file in `commands`; [`target`] turns an executable into something that runs, [`report`] turns
//! coverage into text. Nothing here knows LLVM, a sandbox or a file format of its own.

mod campaign;
mod commands;
mod concolic;
mod config;
mod distil;
mod duration;
mod exit_code;
mod failure;
mod inputs;
mod mutants;
mod place;
mod printable;
mod report;
mod screen;
mod seeds;
mod shell;
mod signals;
mod suite;
mod surroundings;
mod target;

use clap::{Parser, Subcommand};
use screen::Screen;
use std::process::ExitCode;

/// Small sets of tests that reach branches nobody reached
#[derive(Parser)]
#[command(name = "cairn", version)]
struct Cairn {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(commands::init::Init),
    Build(commands::build::Build),
    Run(commands::run::Run),
    Resume(commands::resume::Resume),
    Report(commands::report::Report),
    Replay(commands::replay::Replay),
    Cover(commands::cover::Cover),
    Map(commands::map::Map),
    Record(commands::record::Record),
    Mutants(commands::mutants::ListMutants),
    Score(commands::score::Score),
    Seeds(commands::seeds::Seeds),
    Minimize(commands::minimize::Minimize),
    Export(commands::export::Export),
    Check(commands::check::Check),
    Trace(commands::trace::Trace),
    Solve(commands::solve::Solve),
    Experiment(commands::experiment::RunExperiment),
    Doctor(commands::doctor::Doctor),
}

fn main() -> ExitCode {
    let screen = Screen::new();
    let result = match Cairn::parse().command {
        Command::Init(command) => command.run(&screen),
        Command::Build(command) => command.run(&screen),
        Command::Run(command) => command.run(&screen),
        Command::Resume(command) => command.run(&screen),
        Command::Report(command) => command.run(&screen),
        Command::Replay(command) => command.run(&screen),
        Command::Cover(command) => command.run(&screen),
        Command::Map(command) => command.run(&screen),
        Command::Record(command) => command.run(&screen),
        Command::Mutants(command) => command.run(&screen),
        Command::Score(command) => command.run(&screen),
        Command::Seeds(command) => command.run(&screen),
        Command::Minimize(command) => command.run(&screen),
        Command::Export(command) => command.run(&screen),
        Command::Check(command) => command.run(&screen),
        Command::Trace(command) => command.run(&screen),
        Command::Solve(command) => command.run(&screen),
        Command::Experiment(command) => command.run(&screen),
        Command::Doctor(command) => command.run(&screen),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            screen.fail(&failure);
            failure.exit.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cairn::command().debug_assert();
    }
}
