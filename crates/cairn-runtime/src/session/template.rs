//! The process that stays as it was before the first run.

use super::{Entry, Regions, before_main, change, futex, own_maps, runner};
use crate::{channel::Channel, system};
use cairn_abi::session::{Obstacle, RunnerMode, Turn};
use core::sync::atomic::Ordering;

/// Serves the host if it wants a session.
///
/// Returns in two cases: when there is no session, with `None`; and in a runner, once per run, with the status the
/// program ends with. The caller then leaves as the program would.
pub fn serve(channel: Channel, entry: Entry) -> Option<i32> {
    if !Regions::are_wanted(channel) {
        return None;
    }
    // Before anything of ours is mapped that a fresh process does not have.
    own_maps::keep(channel);
    let regions = Regions::find(channel)?;
    let board = regions.board;
    if let Some(mutants) = regions.mutants {
        // Whatever the host wanted to know about the time before `main`.
        mutants.rest();
    }
    // Nothing of the program runs in a template any more, so this does not change.
    let obstacle = before_main::obstacle();
    board.changers.store(change::changers(entry), Ordering::Relaxed);
    pass_turn(&regions, Turn::Host);
    loop {
        wait_for(&regions, Turn::Template);
        board.runner_ended.store(0, Ordering::Relaxed);
        board.obstacle.store(Obstacle::None as u32, Ordering::Relaxed);
        let mode = match board.mode.load(Ordering::Relaxed) {
            0 => RunnerMode::Persistent,
            _ => RunnerMode::Snapshot,
        };
        if obstacle != Obstacle::None {
            board.obstacle.store(obstacle as u32, Ordering::Relaxed);
        }
        let forked = if obstacle == Obstacle::None { system::fork() } else { None };
        match forked {
            Some(0) => {
                system::die_with_parent();
                return Some(runner::become_runner(regions, entry, mode));
            }
            Some(runner) => {
                board.runner.store(runner as u32, Ordering::Relaxed);
                let (status, peak) = system::wait_for_child(runner);
                board.runner_status.store(status as u32, Ordering::Relaxed);
                board.runner_peak.store(peak, Ordering::Relaxed);
            }
            None if obstacle != Obstacle::None => {}
            None => board.obstacle.store(Obstacle::Setup as u32, Ordering::Relaxed),
        }
        // First the fact, then the turn, which the host may have already: it retires a runner by killing it.
        board.runner_ended.store(1, Ordering::Release);
        let turn = board.turn.load(Ordering::Relaxed);
        if turn != Turn::Host as u32 {
            let _ = board.turn.compare_exchange(turn, Turn::Host as u32, Ordering::AcqRel, Ordering::Relaxed);
        }
        // Only now may the host pass the turn again without it being taken back.
        board.runner_ended.store(2, Ordering::Release);
        futex::wake(&board.turn);
        futex::wake(&board.runner_ended);
    }
}

/// Sleeps until it is `turn`.
pub(super) fn wait_for(regions: &Regions, turn: Turn) {
    loop {
        match regions.board.turn.load(Ordering::Acquire) {
            now if now == turn as u32 => return,
            now => futex::wait_while(&regions.board.turn, now),
        }
    }
}

/// Passes the turn and wakes the others.
pub(super) fn pass_turn(regions: &Regions, turn: Turn) {
    regions.board.turn.store(turn as u32, Ordering::Release);
    futex::wake(&regions.board.turn);
}
