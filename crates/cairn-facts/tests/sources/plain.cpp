// C++ without clean-ups: truth values are explicit casts here, so they stand elsewhere than in C.
struct Node {
    int value;
    bool flag;
    Node *next;
    bool ready() const { return flag; }
};

extern "C" int id(int x)
{
    return x;
}

extern "C" int loops(Node *node, int *numbers)
{
    int n = 0;
    for (Node *at = node; at; at = at->next)
        n += at->value && at->flag;
    while (*numbers)
        n += *numbers++ & 1 ? 3 : 4;
    do
        n--;
    while (n & 1);
    do {
        n++;
    } while (node->flag && n < 9);
    while (!node->ready() || node->next)
        node = node->next;
    while (int x = id(n))
        n -= x;
    int array[] = {1, 2, 3};
    for (int e : array)
        n += e > 2 or n;
    return n;
}

extern "C" int tests(Node *node, int a, bool b)
{
    int n = 0;
    if (a)
        n++;
    if (b && (node->flag) && !node->value)
        n++;
    if (node->ready() || id(a))
        n++;
    if ((n = id(a)))
        n++;
    if (a & 1)
        n++;
    n += a ? b : node->flag;
    n += a ? 1 : 2;
    n += static_cast<bool>(a) ? 1 : 2;
    bool both = a && !b;
    bool either = b || node->ready();
    return both == either ? n : -n;
}

int main()
{
    Node last{0, true, nullptr}, first{1, false, &last};
    int numbers[] = {1, 2, 0};
    return loops(&first, numbers) + tests(&first, 1, true) + tests(&last, 0, false) == 1000;
}
