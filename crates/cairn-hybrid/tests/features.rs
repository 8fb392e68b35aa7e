//! What a learned heuristic scores branches by, read from the map of a real program.

mod support;

use cairn_concolic::search::{Explorer, Memory, SearchConfig};
use cairn_model::Input;
use cairn_search::{FEATURES, FeatureVector, Features, Heuristic, Question, Source};
use expect_test::expect;
use std::collections::BTreeSet;
use support::Program;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kind(const char *word, int *n_long) {
  if (strcmp(word, "key") == 0)
    return 1;
  if (word[0] == '-')
    *n_long += word[1] == '-';
  switch (word[0]) {
  case '+':
    return 2;
  default:
    return 3;
  }
}

int main(void) {
  char word[8] = "";
  int n_long = 0, sum = 0;
  for (int i = 0; i < 7; i++) {
    int c = getchar();
    if (c == EOF)
      break;
    word[i] = (char)c;
  }
  if (atoi(word) > 1000)
    return 4;
  int n = word[6];
  while (n > sum) {
    if (n == 100)
      puts("a hundred");
    sum += 60;
  }
  return kind(word, &n_long) + n_long;
}
"#;

#[test]
fn static_features_are_those_of_the_source() {
    let program = Program::text(PROGRAM);
    let map = program.map();
    let heuristic = Heuristic::BreadthFirst;
    let config = SearchConfig::default();
    let memory = Memory::default();
    let mut explorer = Explorer::new(map, heuristic.selector(), &config, memory.traces.clone());
    let mut features = Features::default();
    let mut lines: BTreeSet<String> = BTreeSet::new();
    for text in ["keyword", "-a12345", "+bcdefd", "9999999", "key"] {
        let input = Input { stdin: text.into(), ..Input::default() };
        let ran = explorer.begin(map, &mut program.tracer(heuristic), &input).unwrap();
        let view = explorer.view(map);
        for (index, FeatureVector(had)) in features.of_path(&view, ran.path).into_iter().enumerate() {
            let Some(branch) = view.branch(Question { path: ran.path, index }) else { continue };
            let condition = &map.conditions[branch.condition.index()];
            let is_static = |number: &usize| FEATURES[*number].source == Source::Map && had[*number];
            let numbers: Vec<String> =
                (0..had.len()).filter(is_static).map(|number| (number + 1).to_string()).collect();
            lines.insert(format!("{} {}: {}\n", condition.text, branch.direction, numbers.join(" ")));
        }
    }
    expect![[r#"
        atoi(word) > 1000 false: 1 5 6 9
        atoi(word) > 1000 true: 1 5 6 9
        c == EOF false: 1 4 6 9 10
        c == EOF true: 1 4 6 9 10
        case '+' false: 4 6 12
        case '+' true: 4 6 11
        n == 100 false: 1 4 6 9 10
        n == 100 true: 1 4 6 9 10
        n > sum false: 1 3 4 9
        n > sum true: 1 2 4 9
        strcmp(word, "key") == 0 false: 5 7 9
        strcmp(word, "key") == 0 true: 5 7 9
        word[0] == '-' false: 4 6 8 9
        word[0] == '-' true: 4 6 8 9
    "#]]
    .assert_eq(&lines.into_iter().collect::<String>());
}
