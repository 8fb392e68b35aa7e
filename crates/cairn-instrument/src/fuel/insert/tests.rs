//! One function before, the same function with fuel.

use super::*;
use expect_test::{Expect, expect};
use inkwell::{context::Context, memory_buffer::MemoryBuffer, values::AnyValue as _};

/// Inserts fuel into IR text and prints the function `f`.
fn with_fuel(text: &str, fuel: Fuel) -> String {
    let context = Context::create();
    let text = format!("@__cairn_fuel = hidden global [512 x i64] zeroinitializer\n{text}");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).expect("the test's IR is right");
    insert(&module, fuel).expect("the module is still right");
    module.get_function("f").expect("the text defines `f`").print_to_string().to_string()
}

#[track_caller]
fn check(text: &str, fuel: Fuel, expected: Expect) {
    expected.assert_eq(&with_fuel(text, fuel));
}

#[test]
fn a_loop_with_a_call_steps_at_its_header() {
    check(
        "
        declare i1 @more()
        define void @f() {
        entry:
          br label %loop
        loop:
          %n = phi i32 [ 0, %entry ], [ %m, %loop ]
          %m = add i32 %n, 1
          %c = call i1 @more()
          br i1 %c, label %loop, label %done
        done:
          ret void
        }",
        Fuel::WhereCallsAre,
        expect![[r#"
            define void @f() {
            entry:
              br label %cairn.before

            cairn.before:                                     ; preds = %entry, %loop
              %n = phi i32 [ 0, %entry ], [ %m, %loop ]
              %0 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              %1 = sub i64 %0, 1
              %2 = icmp eq i64 %1, 0
              store i64 %1, ptr @__cairn_fuel, align 8, !tbaa !0
              br i1 %2, label %cairn.out, label %loop, !prof !3

            loop:                                             ; preds = %cairn.before
              %m = add i32 %n, 1
              %c = call i1 @more()
              br i1 %c, label %cairn.before, label %done

            done:                                             ; preds = %loop
              ret void

            cairn.out:                                        ; preds = %cairn.before
              call void @cairn_out_of_fuel()
              unreachable
            }
        "#]],
    );
}

#[test]
fn a_recursive_function_steps_at_its_entry_and_keeps_its_variables_there() {
    check(
        "
        define i32 @f(i32 %n) {
          %first = alloca i32
          store i32 %n, ptr %first
          %second = alloca i32
          %dynamic = alloca i8, i32 %n
          %r = musttail call i32 @f(i32 %n)
          ret i32 %r
        }",
        Fuel::WhereCallsAre,
        expect![[r#"
            define i32 @f(i32 %n) {
            cairn.before:
              %first = alloca i32, align 4
              %second = alloca i32, align 4
              %0 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              %1 = sub i64 %0, 1
              %2 = icmp eq i64 %1, 0
              store i64 %1, ptr @__cairn_fuel, align 8, !tbaa !0
              br i1 %2, label %cairn.out, label %3, !prof !3

            3:                                                ; preds = %cairn.before
              store i32 %n, ptr %first, align 4
              %dynamic = alloca i8, i32 %n, align 1
              %r = musttail call i32 @f(i32 %n)
              ret i32 %r

            cairn.out:                                        ; preds = %cairn.before
              call void @cairn_out_of_fuel()
              unreachable
            }
        "#]],
    );
}

#[test]
fn a_loop_without_calls_counts_in_a_register() {
    check(
        "
        define i64 @f(i64 %n, i1 %skip) {
        entry:
          br i1 %skip, label %done, label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %more, %latch ]
          %odd = trunc i64 %i to i1
          br i1 %odd, label %latch, label %done
        latch:
          %more = add i64 %i, 1
          %c = icmp ult i64 %more, %n
          br i1 %c, label %loop, label %after
        after:
          ret i64 1
        done:
          %r = phi i64 [ 0, %entry ], [ %i, %loop ]
          ret i64 %r
        }",
        Fuel::Everywhere,
        expect![[r#"
            define i64 @f(i64 %n, i1 %skip) {
            entry:
              br i1 %skip, label %done, label %cairn.edge

            cairn.edge:                                       ; preds = %entry
              %0 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              br label %cairn.before

            cairn.before:                                     ; preds = %cairn.edge, %latch
              %1 = phi i64 [ 0, %cairn.edge ], [ %more, %latch ]
              %2 = phi i64 [ %0, %cairn.edge ], [ %3, %latch ]
              %3 = sub i64 %2, 1
              %4 = icmp eq i64 %3, 0
              br i1 %4, label %cairn.out, label %loop, !prof !3

            loop:                                             ; preds = %cairn.before
              %odd = trunc i64 %1 to i1
              br i1 %odd, label %latch, label %cairn.edge1

            latch:                                            ; preds = %loop
              %more = add i64 %1, 1
              %c = icmp ult i64 %more, %n
              br i1 %c, label %cairn.before, label %after

            after:                                            ; preds = %latch
              store i64 %3, ptr @__cairn_fuel, align 8, !tbaa !0
              ret i64 1

            cairn.edge1:                                      ; preds = %loop
              store i64 %3, ptr @__cairn_fuel, align 8, !tbaa !0
              br label %done

            done:                                             ; preds = %cairn.edge1, %entry
              %5 = phi i64 [ 0, %entry ], [ %1, %cairn.edge1 ]
              ret i64 %5

            cairn.out:                                        ; preds = %cairn.before
              store i64 %3, ptr @__cairn_fuel, align 8, !tbaa !0
              call void @cairn_out_of_fuel()
              unreachable
            }
        "#]],
    );
}

#[test]
fn a_register_loop_that_leads_into_another_hands_its_fuel_over() {
    check(
        "
        define void @f(ptr %p) {
        entry:
          br label %a
        a:
          %x = load volatile i1, ptr %p
          br i1 %x, label %a, label %b
        b:
          %y = load volatile i1, ptr %p
          br i1 %y, label %b, label %done
        done:
          ret void
        }",
        Fuel::Everywhere,
        expect![[r#"
            define void @f(ptr %p) {
            entry:
              %0 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              br label %cairn.before

            cairn.before:                                     ; preds = %entry, %a
              %1 = phi i64 [ %0, %entry ], [ %2, %a ]
              %2 = sub i64 %1, 1
              %3 = icmp eq i64 %2, 0
              br i1 %3, label %cairn.out, label %a, !prof !3

            a:                                                ; preds = %cairn.before
              %x = load volatile i1, ptr %p, align 1
              br i1 %x, label %cairn.before, label %cairn.edge

            cairn.edge:                                       ; preds = %a
              store i64 %2, ptr @__cairn_fuel, align 8, !tbaa !0
              %4 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              br label %cairn.before1

            cairn.before1:                                    ; preds = %b, %cairn.edge
              %5 = phi i64 [ %4, %cairn.edge ], [ %6, %b ]
              %6 = sub i64 %5, 1
              %7 = icmp eq i64 %6, 0
              br i1 %7, label %cairn.out2, label %b, !prof !3

            b:                                                ; preds = %cairn.before1
              %y = load volatile i1, ptr %p, align 1
              br i1 %y, label %cairn.before1, label %done

            done:                                             ; preds = %b
              store i64 %6, ptr @__cairn_fuel, align 8, !tbaa !0
              ret void

            cairn.out:                                        ; preds = %cairn.before
              store i64 %2, ptr @__cairn_fuel, align 8, !tbaa !0
              call void @cairn_out_of_fuel()
              unreachable

            cairn.out2:                                       ; preds = %cairn.before1
              store i64 %6, ptr @__cairn_fuel, align 8, !tbaa !0
              call void @cairn_out_of_fuel()
              unreachable
            }
        "#]],
    );
}

#[test]
fn a_switch_with_many_ways_round_gives_the_phi_each_of_them() {
    check(
        "
        define void @f(ptr %p) {
        entry:
          %s = load volatile i32, ptr %p
          switch i32 %s, label %done [ i32 1, label %loop
                                       i32 2, label %loop ]
        loop:
          %x = load volatile i32, ptr %p
          switch i32 %x, label %loop [ i32 1, label %loop
                                       i32 2, label %done
                                       i32 3, label %done ]
        done:
          ret void
        }",
        Fuel::Everywhere,
        expect![[r#"
            define void @f(ptr %p) {
            entry:
              %s = load volatile i32, ptr %p, align 4
              switch i32 %s, label %done [
                i32 1, label %cairn.edge
                i32 2, label %cairn.edge
              ]

            cairn.edge:                                       ; preds = %entry, %entry
              %0 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              br label %cairn.before

            cairn.before:                                     ; preds = %cairn.edge, %loop, %loop
              %1 = phi i64 [ %0, %cairn.edge ], [ %2, %loop ], [ %2, %loop ]
              %2 = sub i64 %1, 1
              %3 = icmp eq i64 %2, 0
              br i1 %3, label %cairn.out, label %loop, !prof !3

            loop:                                             ; preds = %cairn.before
              %x = load volatile i32, ptr %p, align 4
              switch i32 %x, label %cairn.before [
                i32 1, label %cairn.before
                i32 2, label %cairn.edge1
                i32 3, label %cairn.edge1
              ]

            cairn.edge1:                                      ; preds = %loop, %loop
              store i64 %2, ptr @__cairn_fuel, align 8, !tbaa !0
              br label %done

            done:                                             ; preds = %cairn.edge1, %entry
              ret void

            cairn.out:                                        ; preds = %cairn.before
              store i64 %2, ptr @__cairn_fuel, align 8, !tbaa !0
              call void @cairn_out_of_fuel()
              unreachable
            }
        "#]],
    );
}

#[test]
fn a_block_whose_address_is_taken_steps_before_its_content() {
    check(
        "
        declare ptr @next(ptr)
        define void @f() {
        entry:
          br label %loop
        loop:
          %to = call ptr @next(ptr blockaddress(@f, %loop))
          indirectbr ptr %to, [label %loop, label %done]
        done:
          ret void
        }",
        Fuel::WhereCallsAre,
        expect![[r#"
            define void @f() {
            cairn.before1:
              %0 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              %1 = sub i64 %0, 1
              %2 = icmp eq i64 %1, 0
              store i64 %1, ptr @__cairn_fuel, align 8, !tbaa !0
              br i1 %2, label %cairn.out, label %entry, !prof !3

            entry:                                            ; preds = %cairn.before1
              br label %cairn.before

            cairn.before:                                     ; preds = %entry, %loop
              %3 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              %4 = sub i64 %3, 1
              %5 = icmp eq i64 %4, 0
              store i64 %4, ptr @__cairn_fuel, align 8, !tbaa !0
              br i1 %5, label %cairn.out, label %loop, !prof !3

            loop:                                             ; preds = %cairn.before
              %to = call ptr @next(ptr blockaddress(@f, %cairn.before))
              indirectbr ptr %to, [label %cairn.before, label %done]

            done:                                             ; preds = %loop
              ret void

            cairn.out:                                        ; preds = %cairn.before1, %cairn.before
              call void @cairn_out_of_fuel()
              unreachable
            }
        "#]],
    );
}

#[test]
fn a_loop_headed_by_a_landing_pad_steps_behind_it() {
    check(
        "
        declare void @may_throw()
        declare i32 @__gxx_personality_v0(...)
        define void @f() personality ptr @__gxx_personality_v0 {
        entry:
          invoke void @may_throw() to label %done unwind label %again
        again:
          %pad = landingpad { ptr, i32 } catch ptr null
          invoke void @may_throw() to label %done unwind label %again
        done:
          ret void
        }",
        Fuel::WhereCallsAre,
        expect![[r#"
            define void @f() personality ptr @__gxx_personality_v0 {
            entry:
              invoke void @may_throw()
                      to label %done unwind label %cairn.before

            cairn.before:                                     ; preds = %entry, %again
              %pad = landingpad { ptr, i32 }
                      catch ptr null
              %0 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              %1 = sub i64 %0, 1
              %2 = icmp eq i64 %1, 0
              store i64 %1, ptr @__cairn_fuel, align 8, !tbaa !0
              br i1 %2, label %cairn.out, label %again, !prof !3

            again:                                            ; preds = %cairn.before
              invoke void @may_throw()
                      to label %done unwind label %cairn.before

            done:                                             ; preds = %again, %entry
              ret void

            cairn.out:                                        ; preds = %cairn.before
              call void @cairn_out_of_fuel()
              unreachable
            }
        "#]],
    );
}

#[test]
fn the_second_return_of_setjmp_steps() {
    check(
        "
        declare i32 @_setjmp(ptr) returns_twice
        define void @f(ptr %p) {
          %x = call i32 @_setjmp(ptr %p)
          ret void
        }",
        Fuel::WhereCallsAre,
        expect![[r#"
            define void @f(ptr %p) {
            cairn.before:
              %x = call i32 @_setjmp(ptr %p)
              %0 = load i64, ptr @__cairn_fuel, align 8, !tbaa !0
              %1 = sub i64 %0, 1
              %2 = icmp eq i64 %1, 0
              store i64 %1, ptr @__cairn_fuel, align 8, !tbaa !0
              br i1 %2, label %cairn.out, label %3, !prof !3

            3:                                                ; preds = %cairn.before
              ret void

            cairn.out:                                        ; preds = %cairn.before
              call void @cairn_out_of_fuel()
              unreachable
            }
        "#]],
    );
}
