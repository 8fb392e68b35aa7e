/* A reader of arithmetic and of nested lists, as an ordinary program might have it. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { END, NUMBER, WORD, STRING, OPEN, CLOSE, OPERATOR, BAD };

struct token {
    enum kind kind;
    const char *start;
    size_t length;
    long number;
};

struct reader {
    const char *at, *end;
    struct token token;
    int depth, errors;
    bool quiet;
};

#define MAX_DEPTH 16
#define IS_BLANK(c) ((c) == ' ' || (c) == '\t' || (c) == '\n')

static void fail(struct reader *reader, const char *message)
{
    if (!reader->quiet && reader->errors == 0)
        fprintf(stderr, "error: %s\n", message);
    reader->errors++;
}

static bool is_word(int c, bool first)
{
    return c == '_' || isalpha(c) || (!first && isdigit(c));
}

static void skip_blank(struct reader *reader)
{
    while (reader->at < reader->end) {
        if (IS_BLANK(*reader->at)) {
            reader->at++;
        } else if (*reader->at == '#') {
            do
                reader->at++;
            while (reader->at < reader->end && *reader->at != '\n');
        } else {
            break;
        }
    }
}

static void read_string(struct reader *reader)
{
    struct token *token = &reader->token;
    token->kind = STRING;
    token->start = ++reader->at;
    for (; reader->at < reader->end && *reader->at != '"'; reader->at++) {
        if (*reader->at == '\\' && reader->at + 1 < reader->end)
            reader->at++;
        else if (*reader->at == '\n')
            break;
    }
    token->length = (size_t)(reader->at - token->start);
    if (reader->at == reader->end || *reader->at != '"') {
        token->kind = BAD;
        fail(reader, "unterminated string");
    } else {
        reader->at++;
    }
}

static void read_number(struct reader *reader)
{
    struct token *token = &reader->token;
    int base = 10;
    token->kind = NUMBER;
    if (reader->end - reader->at > 2 && reader->at[0] == '0' && (reader->at[1] | 0x20) == 'x')
        base = 16, reader->at += 2;
    token->number = 0;
    while (reader->at < reader->end && (base == 16 ? isxdigit(*reader->at) : isdigit(*reader->at))) {
        int c = *reader->at++;
        int digit = isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
        if (__builtin_mul_overflow(token->number, base, &token->number) ||
            __builtin_add_overflow(token->number, digit, &token->number)) {
            token->kind = BAD;
            fail(reader, "number too large");
            return;
        }
    }
}

static struct token *next(struct reader *reader)
{
    struct token *token = &reader->token;
    skip_blank(reader);
    token->start = reader->at;
    token->length = 1;
    if (reader->at >= reader->end) {
        token->kind = END;
        return token;
    }
    unsigned char c = (unsigned char)*reader->at;
    switch (c) {
    case '(':
    case '[':
        token->kind = OPEN;
        reader->at++;
        break;
    case ')':
    case ']':
        token->kind = CLOSE;
        reader->at++;
        break;
    case '"':
        read_string(reader);
        break;
    case '0' ... '9':
        read_number(reader);
        break;
    default:
        if (is_word(c, true)) {
            while (reader->at < reader->end && is_word((unsigned char)*reader->at, false))
                reader->at++;
            token->kind = WORD;
            token->length = (size_t)(reader->at - token->start);
        } else {
            token->kind = strchr("+-*/%<>", c) != NULL ? OPERATOR : BAD;
            reader->at++;
        }
    }
    return token;
}

static long apply(struct reader *reader, char operator, long left, long right)
{
    switch (operator) {
    case '+':
        return left + right;
    case '-':
        return left - right;
    case '*':
        return left * right;
    case '<':
        return left < right;
    case '>':
        return left > right;
    case '/':
    case '%':
        if (right == 0 || (left == -1 && right == 0)) {
            fail(reader, "division by zero");
            return 0;
        }
        return operator == '/' ? left / right : left % right;
    default:
        fail(reader, "unknown operator");
        return 0;
    }
}

static int strength(char operator)
{
    return operator == '<' || operator == '>' ? 1 : operator == '+' || operator == '-' ? 2 : 3;
}

static long expression(struct reader *reader, int least);

static long primary(struct reader *reader)
{
    struct token token = reader->token;
    long value = 0;
    bool negative = token.kind == OPERATOR && *token.start == '-';
    if (negative)
        token = *next(reader);
    if (token.kind == NUMBER) {
        value = token.number;
        next(reader);
    } else if (token.kind == WORD && token.length == 4 && !strncmp(token.start, "true", 4)) {
        value = 1;
        next(reader);
    } else if (token.kind == STRING || token.kind == WORD) {
        value = (long)token.length;
        next(reader);
    } else if (token.kind == OPEN && ++reader->depth < MAX_DEPTH) {
        next(reader);
        value = expression(reader, 0);
        if (reader->token.kind != CLOSE || (*token.start == '(') != (*reader->token.start == ')'))
            fail(reader, "unbalanced brackets");
        else
            next(reader);
        reader->depth--;
    } else {
        fail(reader, reader->depth >= MAX_DEPTH ? "nested too deeply" : "value expected");
    }
    return negative ? -value : value;
}

static long expression(struct reader *reader, int least)
{
    long left = primary(reader);
    while (reader->errors == 0 && reader->token.kind == OPERATOR && strength(*reader->token.start) > least) {
        char operator = *reader->token.start;
        next(reader);
        long right = expression(reader, strength(operator));
        left = apply(reader, operator, left, right);
    }
    return left;
}

int main(int argc, char **argv)
{
    static const char *samples[] = {"1 + 2 * 3", "(1 + 0x1F) * -2 # comment\n", "[\"a\\\"b\" + true] / 0",
                                    "((4)", "99999999999999999999", "a1 < 3 > 1 % 2", "? 1", "\"open", NULL};
    long sum = 0;
    for (const char **sample = samples; *sample; sample++) {
        struct reader reader = {.at = *sample, .end = *sample + strlen(*sample), .quiet = argc < 2};
        next(&reader);
        sum += expression(&reader, 0);
        if (reader.token.kind != END && !reader.errors)
            fail(&reader, "trailing text");
        sum += reader.errors ? 100 : 0;
    }
    if (argc > 1 && !strcmp(argv[1], "-p"))
        printf("%ld\n", sum);
    return 0;
}
