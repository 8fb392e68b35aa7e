/* Every kind of condition that is evaluated. */
#include <stddef.h>
#include <stdlib.h>

static int calls;

static int id(int x)
{
    calls++;
    return x;
}

struct pair {
    int first, second;
};

struct node {
    int value;
    _Bool flag;
    struct node *next;
};

static _Bool is_odd(int n)
{
    return n & 1;
}

static struct {
    int value, array[3];
} first_node;

static int chain(struct node *node, int *numbers)
{
    int n = 0;
    for (struct node *at = node; at; at = at->next)
        n += at->value && at->flag;
    while (*numbers)
        n += *numbers++ & 1 ? 3 : 4;
    do
        n--;
    while (n & 1);
    do {
        n++;
    } while (node->flag && n < 9);
    do {
        n++;
    } while (!(n & 7));
    while (node->next)
        node = node->next;
    if ((n = id(n)))
        n++;
    _Bool copy;
    if ((copy = node->flag))
        n++;
    while (n++, n < 12)
        n++;
    while (copy = 0, n < 20 && n)
        n++;
    static const _Bool table[2] = {1, 0};
    if (node->next || table[n & 1] || (copy = n > 3))
        n++;
    if (n && (copy = is_odd(n)))
        n++;
    while (!(copy = (n++ == 40)) && n < 41)
        n++;
    n += node->flag ? 1 : 2;
    int (*function)(int) = n ? id : abs;
    int *number = n ? &calls : NULL, *other = n ? numbers : &n;
    char *text = n > 3 ? "xy" + 1 : (char *)&first_node.value;
    const void *any = n ? table : (const void *)(first_node.array + 1);
    n += function(*other) + (number != NULL) + (any != text);
    if (node->flag || (node->value) || numbers[-1])
        n++;
    if (!node->value && !(n & 2))
        n++;
    return node->value ? 1 : 2;
}

static struct pair choose(int a, struct pair p, struct pair q)
{
    return a && q.first ? p : q;
}

static int controlling(int a, int b, int c)
{
    int x = 0;
    if (a)
        x++;
    if (!a)
        x++;
    else if ((b))
        x--;
    if (!(!(b)))
        x++;
    if (a > 1 && (b < 2 || c == 3) && !c)
        x++;
    if (__builtin_expect(!!(a && b), 1))
        x++;
    if ((x = a, b))
        x++;
    if ((_Bool)(a && b))
        x++;
    if (__extension__(a && b))
        x++;
    if (id(a && b) > 0 || id(c))
        x++;
    return x;
}

static int split(int a, int b, int c)
{
    int x = 0;
    if (a ? b : c)
        x++;
    if (a ? (b && c) : x)
        x++;
    if (a && (b ? a : c))
        x++;
    if (!(a ? !b : c > 0 ? a == b : (x & 1)))
        x++;
    return x;
}

static int loops(int a, int b, int c)
{
    int x = 0;
    while (a && b) {
        a--;
    }
    while (!x)
        x++;
    for (int i = 0; i < 3 && c; i++)
        x++;
    for (int i = 0, j = 3; i < j; i++, j--)
        x += i > 0 ? j : 1;
    for (;;) {
        if (x++ > 10)
            break;
    }
    for (; c < 2;)
        c++;
    for (c = 0;; c++)
        if (c || x)
            break;
    do
        x--;
    while (x > 0 && b);
    do {
        x++;
    } while (x < 3);
    return x;
}

static int values(int a, int b, int c)
{
    int x = (a && b) || c;
    x = id(a && (b || c));
    x += a && !b;
    int array[3] = {a || b, a ? b : c, 0};
    array[a && b] = b || c;
    x = a ? b : c;
    x = a ? 1 : 2;
    x = (a && b) ? 1 : 2;
    const char *name = a ? "one" : "two";
    double half = b ? 0.5 : 1;
    x = a ?: c;
    x = (a && b) ?: c;
    x = ({
        int z = a && b;
        if (z)
            z++;
        z;
    });
    a && id(b);
    a ? id(1) : id(2);
    struct pair p = {a && c, b || c}, q = {.second = a ? b : c};
    p = choose(a, p, q);
    int sized[a && b ? 2 : 3];
    sized[0] = name[0] + (half > 0.75);
    return !(a && b) + array[0] + p.first + sized[0] + x;
}

static int choices(int x, unsigned long u)
{
    enum colour { RED = -1, GREEN = 1 } colour = x > 2 ? RED : GREEN;
    switch (x) {
    case 1 ... 3:
        x++;
        break;
    case 'c':
    case -1:
        x--;
        /* fall through */
    default:
        if (x == 'q' || u == 1)
            x = 0;
    }
    switch (u) {
    case 0xffffffffffffffff:
        return 1;
    default:
        switch (colour) {
        case RED:
            return 2;
        case GREEN:
            break;
        default:
            return 4;
        }
    }
    return x;
}

int main(int argc, char **argv)
{
    struct node last = {0, 0, NULL}, first = {2, 1, &last};
    int numbers[] = {1, 2, 0};
    int n = chain(&first, numbers);
    for (int i = 0; i < 8; i++) {
        int a = i & 1, b = (i >> 1) & 1, c = i >> 2;
        n += controlling(a, b, c) + split(a, b, c) + loops(a, b, c) + values(a, b, c) + choices(i, (unsigned long)c - 1);
    }
    return argc > 1 && argv[1] != NULL && n == calls;
}
