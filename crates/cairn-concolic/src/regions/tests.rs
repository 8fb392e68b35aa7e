use super::*;
use cairn_abi::symbolic::metadata;
use cairn_model::input::{FileRegion, Variable};
use expect_test::{Expect, expect};

fn file(path: &str, content: &str) -> FileRegion {
    FileRegion {
        path: path.into(),
        kind: FileKind::Regular(content.into()),
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    }
}

fn sample() -> Input {
    Input {
        args: vec!["-n".into()],
        stdin: "ab".into(),
        files: vec![
            FileRegion { kind: FileKind::Folder, ..file("d", "") },
            file("one", "1"),
            FileRegion { size: Some(5), ..file("two", "22") },
        ],
        environment: vec![("THEME".into(), "light".into())],
        variables: vec![
            Variable { name: "n".into(), value: VariableValue::Int(-1) },
            Variable { name: "x".into(), value: VariableValue::Double(0.5f64.to_bits()) },
            Variable { name: "key".into(), value: VariableValue::Bytes("kk".into()) },
        ],
        buffer: Some("buf".into()),
        ..Input::default()
    }
}

fn regions(limits: Limits) -> Regions {
    Regions::new(sample(), vec![b"TZ=UTC".to_vec(), b"THEME=light".to_vec()], limits)
}

fn region(kind: RegionKind, index: u32) -> RegionId {
    RegionId::new(kind, index)
}

/// The line of the input that changes.
fn check(kind: RegionKind, index: u32, changes: &[(u32, u8)], expected: Expect) {
    let regions = self::regions(Limits { max_size: 64, ..Limits::default() });
    let region = region(kind, index);
    let changed = regions.apply(changes.iter().map(|(offset, value)| (region, *offset, *value)));
    let text = match changed {
        Ok(input) => {
            // Whatever was asked for is what is read back, where it is not cut off.
            let before = sample().to_string();
            let lines: Vec<String> =
                input.to_string().lines().filter(|line| !before.contains(line)).map(str::to_owned).collect();
            lines.join("\n")
        }
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&text);
}

#[test]
fn every_region_is_read() {
    let regions = self::regions(Limits::default());
    let text = |kind, index, length: u32| {
        let bytes: Vec<u8> = (0..length).map(|offset| regions.byte(region(kind, index), offset)).collect();
        bytes.escape_ascii().to_string()
    };
    assert_eq!(text(RegionKind::Stdin, 0, 3), "ab\\x00");
    assert_eq!(text(RegionKind::Buffer, 0, 4), "buf\\x00");
    assert_eq!(text(RegionKind::Argument, 0, 3), "-n\\x00");
    assert_eq!(text(RegionKind::Environment, 1, 12), "THEME=light\\x00");
    assert_eq!(text(RegionKind::File, 1, 3), "22\\x00");
    assert_eq!(text(RegionKind::Variable, 0, 9), "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00");
    assert_eq!(text(RegionKind::Variable, 2, 3), "kk\\x00");
    assert_eq!(text(RegionKind::StdinMetadata, 0, 2), "\\x02\\x00");
    assert_eq!(text(RegionKind::BufferMetadata, 0, 2), "\\x03\\x00");
    assert_eq!(text(RegionKind::ArgumentsMetadata, 0, 2), "\\x01\\x00");
    assert_eq!(text(RegionKind::FileMetadata, 2, 2), "\\x05\\x00");
    assert_eq!(text(RegionKind::File, 9, 1), "\\x00");
}

#[test]
fn content_changes_and_grows() {
    check(RegionKind::Stdin, 0, &[(1, b'x')], expect![[r#"stdin: "ax""#]]);
    check(RegionKind::Stdin, 0, &[(4, b'x')], expect![[r#"stdin: "ab\x00\x00x""#]]);
    check(RegionKind::Buffer, 0, &[(3, b'x')], expect![[r#"buffer: "bufx""#]]);
    check(RegionKind::File, 0, &[(2, b'x')], expect![[r#"file one: "1\x00x""#]]);
    check(RegionKind::File, 1, &[(2, b'x')], expect![[r#"file two: "22x" size=5"#]]);
    check(RegionKind::File, 1, &[(5, b'x')], expect![[r#"file two: "22\x00\x00\x00x""#]]);
    check(RegionKind::File, 2, &[(0, b'x')], expect!["error: the input has no file ?"]);
    check(
        RegionKind::Stdin,
        0,
        &[(64, b'x')],
        expect!["error: stdin would have 65 bytes, at most 64 are allowed"],
    );
}

#[test]
fn words_end_at_zero() {
    check(RegionKind::Argument, 0, &[(1, b'm')], expect![[r#"args: ["-m"]"#]]);
    check(RegionKind::Argument, 0, &[(2, b'n')], expect![[r#"args: ["-nn"]"#]]);
    check(RegionKind::Argument, 0, &[(3, b'x')], expect![""]);
    check(RegionKind::Argument, 0, &[(1, 0)], expect![[r#"args: ["-"]"#]]);
    check(RegionKind::Environment, 1, &[(6, b'r')], expect![[r#"environment: THEME="right""#]]);
    check(RegionKind::Environment, 0, &[(3, b'G')], expect![[r#"environment: TZ="GTC""#]]);
    check(RegionKind::Environment, 1, &[(7, 0)], expect![[r#"environment: THEME="l""#]]);
    check(RegionKind::Environment, 1, &[(0, b'X')], expect![[r#"environment: XHEME="light""#]]);
    check(
        RegionKind::Environment,
        1,
        &[(0, b'=')],
        expect!["error: environment THEME cannot be changed like this: an entry is `NAME=value`"],
    );
}

#[test]
fn variables_keep_their_type() {
    check(RegionKind::Variable, 0, &[(0, 5)], expect!["n: -251"]);
    check(RegionKind::Variable, 1, &[(6, 0xf0)], expect!["x: 1.0"]);
    check(RegionKind::Variable, 2, &[(1, b'x')], expect![[r#"key: "kx""#]]);
    check(
        RegionKind::Variable,
        2,
        &[(2, b'x')],
        expect![
            "error: variable key cannot be changed like this: the program asks for a fixed number of bytes"
        ],
    );
}

#[test]
fn an_integer_has_the_width_that_was_asked_for() {
    let mut regions = self::regions(Limits::default());
    let n = region(RegionKind::Variable, 0);
    let node = Node { op: Op::Input as u8, width: 32, a: n.0, b: 0, value: 0xffff_ffff, ..Node::default() };
    regions.observe(&[node]);
    let changed =
        regions.apply([0, 0, 0, 0x80].into_iter().zip(0..).map(|(byte, at)| (n, at, byte))).unwrap();
    assert_eq!(changed.variables[0].value, VariableValue::Int(i64::from(i32::MIN)));
    let changed = regions.apply([1, 0, 0, 0].into_iter().zip(0..).map(|(byte, at)| (n, at, byte))).unwrap();
    assert_eq!(changed.variables[0].value, VariableValue::Int(1));
}

#[test]
fn arguments_are_left_out_and_added() {
    let regions = self::regions(Limits::default());
    let count = region(RegionKind::ArgumentsMetadata, 0);
    let words = |regions: &Regions, n| {
        let input = regions.apply([(count, 0, n)]).map_err(|error| error.to_string())?;
        Ok(input.args.iter().map(|word| word.0.escape_ascii().to_string()).collect::<Vec<_>>())
    };
    assert_eq!(words(&regions, 0), Ok(vec![]));
    // The last one is an option, which would be another decision.
    assert_eq!(words(&regions, 2), Ok(vec!["-n".into(), String::new()]));
    let mut input = regions.input().clone();
    input.args.push(b"operand".to_vec().into());
    let regions = Regions::new(input, Vec::new(), Limits::default());
    assert_eq!(words(&regions, 4).unwrap()[1..], ["operand"; 3]);
    let error: Result<_, String> = words(&regions, 65);
    assert_eq!(error.unwrap_err(), "there would be 65 arguments, at most 64 are allowed");
}

#[test]
fn sizes_cut_and_fill() {
    check(RegionKind::StdinMetadata, 0, &[(0, 1)], expect![[r#"stdin: "a""#]]);
    check(RegionKind::StdinMetadata, 0, &[(0, 3)], expect![[r#"stdin: "ab\x00""#]]);
    check(RegionKind::BufferMetadata, 0, &[(0, 1)], expect![[r#"buffer: "b""#]]);
    check(RegionKind::FileMetadata, 1, &[(0, 0)], expect![[r#"file one: """#]]);
    check(RegionKind::FileMetadata, 2, &[(0, 3)], expect![[r#"file two: "22\x00""#]]);
    check(RegionKind::FileMetadata, 1, &[(1, 1)], expect![[r#"file one: "1" size=257"#]]);
    check(
        RegionKind::StdinMetadata,
        0,
        &[(7, 1)],
        expect!["error: status of stdin would have 72057594037927938 bytes, at most 64 are allowed"],
    );
}

#[test]
fn other_metadata_is_set() {
    let mode = metadata::MODE;
    check(
        RegionKind::FileMetadata,
        1,
        &[(mode, 0x80), (mode + 1, 0x81)],
        expect![[r#"file one: "1" mode=0600"#]],
    );
    check(RegionKind::FileMetadata, 1, &[(mode, 0xed), (mode + 1, 0x41)], expect!["folder one mode=0755"]);
    check(
        RegionKind::FileMetadata,
        1,
        &[(mode, 0), (mode + 1, 0x20)],
        expect![
            "error: status of one cannot be changed like this: inputs have regular files, folders, links and pipes only"
        ],
    );
    check(RegionKind::FileMetadata, 1, &[(metadata::MODIFIED, 9)], expect![[r#"file one: "1" modified=9"#]]);
    check(
        RegionKind::FileMetadata,
        1,
        &[(metadata::LINKS, 2)],
        expect![
            "error: status of one cannot be changed like this: the number of links follows from the other files"
        ],
    );
}

#[test]
fn a_folder_that_holds_files_stays_one() {
    let files = vec![
        FileRegion { kind: FileKind::Folder, ..file("d", "") },
        file("d/one", "1"),
        FileRegion { kind: FileKind::Folder, ..file("empty", "") },
        FileRegion { kind: FileKind::Symlink("d".into()), ..file("link", "") },
    ];
    let mut regions = Regions::new(Input { files, ..Input::default() }, Vec::new(), Limits::default());
    // As `stat` tells of folders with mode 0755, and of a link.
    let seen = [(0, 0o040_755), (2, 0o040_755), (3, 0o120_777)];
    let nodes: Vec<Node> = seen
        .iter()
        .map(|(index, mode)| Node {
            op: Op::Input as u8,
            width: 32,
            a: RegionId::new(RegionKind::FileMetadata, *index).0,
            b: metadata::MODE,
            value: *mode,
            ..Node::default()
        })
        .collect();
    regions.observe(&nodes);
    let mut dag = cairn_expr::Dag::new();
    let conditions = regions.domain(&mut dag, &nodes);
    let allows = |index: u32, mode: u32| {
        let region = RegionId::new(RegionKind::FileMetadata, index);
        let bytes = |of: RegionId, offset: u32| match offset.checked_sub(metadata::MODE) {
            Some(at @ ..4) if of == region => mode.to_le_bytes()[at as usize],
            _ => regions.byte(of, offset),
        };
        conditions.iter().all(|condition| cairn_expr::evaluate(&dag, *condition, &bytes) == 1)
    };
    assert_eq!([allows(0, 0o040_700), allows(0, 0o100_644)], [true, false]);
    assert_eq!([allows(2, 0o040_700), allows(2, 0o100_644)], [true, true]);
    assert_eq!([allows(3, 0o120_777), allows(3, 0o100_644)], [true, false]);
}
