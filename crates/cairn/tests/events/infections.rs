//! Mutants that an input reaches and does not tell apart, and inputs that do.

use crate::support::{Views, path};
use cairn_abi::mutants::Guidepost;
use cairn_concolic::{Event, Flip, infect};
use cairn_executor::{Asked, RunConfig};
use cairn_model::{MutantId, ProbeId, mutants::Change};
use cairn_solver::{Budget, Config, standard};
use std::collections::BTreeSet;

/// Asks for an input for every mutant that the first input of a fixture reaches and does not infect, and panics if what is
/// found does not infect it: the mutant view is the judge. Returns for how many an input was found.
fn infections(name: &str) -> usize {
    let mut views = Views::of(name);
    let mut session = views.build.session(RunConfig::default());
    let input = views.inputs[0].1.clone();
    let examined = session.examine(&input).expect("an examining run");
    let infected: BTreeSet<MutantId> = examined.infected.into_iter().collect();
    let noted = (0..views.sites.probes.len() as u32).map(ProbeId).collect();
    let run = views.run(&input, Asked { noted, guidepost: None });
    let mut path = path(&input, &run, &Guidepost::NONE);
    let mut solver = standard(Config::default());
    let table = views.build.table.clone();
    let mut n_found = 0;
    for (id, mutant) in table.mutants_with_ids() {
        let patch = &table.patches[mutant.patch.index()];
        let Change::Value(formula) = &mutant.change else { continue };
        if infected.contains(&id) || !examined.reached.contains(&mutant.patch) || !patch.is_observable {
            continue;
        }
        let Some((_, probe)) = views.sites.of_site(patch.site).find(|(_, probe)| probe.spot == patch.spot)
        else {
            panic!("{} has no probe", views.build.describe(id));
        };
        let step = path.steps().iter().position(|step| {
            matches!(step.event, Event::SiteValue { site, spot, expression: Some(_), .. }
                if (site, spot) == (probe.site, probe.spot))
        });
        let Some(step) = step else { continue };
        let answer = infect(&mut path, step, formula, probe, &mut solver, Budget::default());
        let Flip::Solved(solved) = answer else { continue };
        let judged = session.examine(&solved.input).expect("an examining run").infected.contains(&id);
        assert!(judged, "{name}: {} is not infected by {}", views.build.describe(id), solved.input);
        n_found += 1;
    }
    n_found
}

#[test]
fn what_is_solved_for_infects() {
    let n_found = infections("event_guidepost");
    assert!(n_found >= 5, "an input was found for {n_found} mutants only");
}
