/* Conditions that come out of macros. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define BOTH(a, b) ((a) && (b))
#define CHECK(condition) \
    do { \
        if (!(condition)) \
            failures++; \
    } while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define EQUALS ==
#define LIMIT 10
#define NEGATIVE(x) ((x) < 0)
#define WHEN if (

static int failures;

static int use(int a, int b, int c)
{
    int x = LARGER(a, b);
    x = BOTH(a, c);
    if (BOTH(a, b) || BOTH(b, c))
        x++;
    if (a && BOTH(b, c))
        x++;
    CHECK(x < LIMIT);
    CHECK(a < LIMIT && b);
    CHECK(BOTH(a, b));
    EACH(i, c)
        x += i;
    if (a EQUALS b && NEGATIVE(c))
        x++;
    if (x > LIMIT)
        x = LIMIT;
    if (LIMIT < x || NEGATIVE(a))
        x--;
    WHEN a > b)
        x--;
    while (x > LARGER(a, b))
        x--;
    switch (x) {
    case LIMIT:
        return 1;
    case LIMIT + 1:
        return LARGER(b, LARGER(a, c));
    default:
        return failures;
    }
}

int main(void)
{
    int n = 0;
    for (int i = 0; i < 8; i++)
        n += use(i & 1, (i >> 1) & 1, i >> 2);
    return n == 1000;
}
