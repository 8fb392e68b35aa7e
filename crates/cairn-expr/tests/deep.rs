//! Loops make expressions as deep as they run long; nothing may recurse over them.

use cairn_expr::{
    DEFAULT_OPERATIONS, Dag, ExprId, ExprNode, Op, RegionId, Tape, evaluate, infix, parse, print, simplify,
    store,
};

const DEPTH: u32 = 100_000;
const STDIN: RegionId = RegionId(0);

/// `h = h * 33 ^ byte` over a long input.
fn chain(dag: &mut Dag, mut add: impl FnMut(&mut Dag, ExprNode) -> ExprId) -> ExprId {
    let mut hash = dag.constant(32, 5381);
    let factor = dag.constant(32, 33);
    for offset in 0..DEPTH / 2 {
        let byte = dag.raw(ExprNode::input(STDIN, offset, 8));
        let byte = dag.raw(ExprNode::operation(Op::ZExt, 32, &[byte]));
        let product = add(dag, ExprNode::operation(Op::Mul, 32, &[hash, factor]));
        hash = add(dag, ExprNode::operation(Op::Xor, 32, &[product, byte]));
    }
    hash
}

fn expected() -> u128 {
    let hash = (0..DEPTH / 2).fold(5381u32, |hash, offset| hash.wrapping_mul(33) ^ u32::from(offset as u8));
    hash.into()
}

#[test]
fn deep_expressions_are_built_evaluated_and_copied() {
    let mut dag = Dag::new();
    let root = chain(&mut dag, Dag::raw);
    let bytes = |_: RegionId, offset: u32| offset as u8;
    assert_eq!(evaluate(&dag, root, &bytes), expected());
    assert_eq!(dag.inputs(root).len(), 1);

    let tape = Tape::compile(&dag, &[root]);
    assert_eq!(tape.machine(&bytes).value(0), expected());

    let mut simple = Dag::new();
    let simplified = simplify(&dag, root, &mut simple);
    assert_eq!(evaluate(&simple, simplified, &bytes), expected());
    let built = chain(&mut simple, Dag::build);
    assert_eq!(built, simplified);
}

#[test]
fn deep_expressions_are_written_and_read() {
    let mut dag = Dag::new();
    let root = chain(&mut dag, Dag::raw);
    let text = print(&dag, root);
    let mut other = Dag::new();
    let read = parse(&mut other, &text).expect("it was printed");
    assert_eq!(other.fingerprint(read), dag.fingerprint(root));

    let stored = store::write(&dag, &[root]);
    let mut other = Dag::new();
    let read = store::read(&mut other, &stored).expect("it was written");
    assert_eq!(other.fingerprint(read[0]), dag.fingerprint(root));

    assert!(infix(&dag, root, DEFAULT_OPERATIONS).len() < 5_000);
}

#[test]
fn rules_do_not_walk_a_deep_expression_again_at_each_step() {
    // Each of these could be pushed all the way down.
    let mut dag = Dag::new();
    let mut chosen = dag.input(STDIN, 0, 32);
    let mut masked = chosen;
    for n in 0..DEPTH / 4 {
        let byte = dag.input(STDIN, 4 + n, 8);
        let constant = dag.constant(32, u128::from(n) * 7);
        let wide = dag.zext(byte, 32);
        let is_equal = dag.compare(Op::Eq, wide, constant);
        chosen = dag.ite(is_equal, constant, chosen);
        let product = dag.binary(Op::Mul, masked, wide);
        masked = dag.binary(Op::Xor, product, constant);
    }
    let zero = dag.constant(32, 0);
    let chosen = dag.compare(Op::Eq, chosen, zero);
    let masked = dag.extract(masked, 3, 9);
    assert_eq!((dag.width(chosen), dag.width(masked)), (1, 9));
    assert!(dag.len() < 10 * DEPTH as usize / 4);
}

#[test]
fn shared_parts_are_written_once() {
    // As a tree this would have 2^200 nodes.
    let mut dag = Dag::new();
    let mut id = dag.input(STDIN, 0, 64);
    for _ in 0..200 {
        let product = dag.binary(Op::Mul, id, id);
        id = dag.binary(Op::Xor, product, id);
    }
    assert!(print(&dag, id).len() < 20_000);
    assert!(infix(&dag, id, DEFAULT_OPERATIONS).len() < 5_000);
}
