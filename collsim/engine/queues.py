"""Two heaps on sequences of numbers, for the compiled loop and the fair one.

One is a queue of operations whose times may change while they wait; the other a plain
heap of keys. Equal ones go by a number, so that their order never is a matter of chance.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# One source for lists and for compiled arrays. The way down stands in `pop` and `heap`, and in
# `settle` and `arrange`: shared by way of a call, fair sharing took 5 % longer.

__all__ = ["arrange", "heap", "pop", "push", "settle", "take"]


def settle(order, where, when, turn, queued, o):
    """Put operation `o` at its place in the queue, and return the queue's length."""
    i = where[o]
    if i < 0:
        i = queued
        queued += 1
    time = when[o]
    mine = turn[o]
    while i > 0:
        up = (i - 1) >> 1
        other = order[up]
        if time < when[other] or (time == when[other] and mine < turn[other]):
            order[i] = other
            where[other] = i
            i = up
        else:
            break
    while True:
        low = 2 * i + 1
        if low >= queued:
            break
        other = order[low]
        if low + 1 < queued:
            right = order[low + 1]
            if when[right] < when[other] or (
                when[right] == when[other] and turn[right] < turn[other]
            ):
                low += 1
                other = right
        if when[other] < time or (when[other] == time and turn[other] < mine):
            order[i] = other
            where[other] = i
            i = low
        else:
            break
    order[i] = o
    where[o] = i
    return queued


def take(order, where, when, turn, queued):
    """Remove the first of the queue, which the caller has read, and return its length."""
    where[order[0]] = -1
    queued -= 1
    if queued > 0:
        last = order[queued]
        where[last] = 0
        settle(order, where, when, turn, queued, last)
    return queued


def push(keys, codes, size, key, code):
    """Add to a four-way heap of (key, code), and return its size."""
    i = size
    while i > 0:
        up = (i - 1) >> 2
        if key < keys[up] or (key == keys[up] and code < codes[up]):
            keys[i] = keys[up]
            codes[i] = codes[up]
            i = up
        else:
            break
    keys[i] = key
    codes[i] = code
    return size + 1


def pop(keys, codes, size):
    """Remove the first of the heap, which the caller has read, and return its size."""
    size -= 1
    key = keys[size]
    code = codes[size]
    i = 0
    while True:
        least = 4 * i + 1
        if least >= size:
            break
        for k in range(least + 1, min(least + 4, size)):
            if keys[k] < keys[least] or (keys[k] == keys[least] and codes[k] < codes[least]):
                least = k
        if keys[least] < key or (keys[least] == key and codes[least] < code):
            keys[i] = keys[least]
            codes[i] = codes[least]
            i = least
        else:
            break
    keys[i] = key
    codes[i] = code
    return size


def arrange(order, where, when, turn, queued):
    """Put the whole queue in order: less than settling one after the other, if many moved."""
    for start in range((queued >> 1) - 1, -1, -1):
        i = start
        o = order[i]
        time = when[o]
        mine = turn[o]
        while True:
            low = 2 * i + 1
            if low >= queued:
                break
            other = order[low]
            if low + 1 < queued:
                right = order[low + 1]
                if when[right] < when[other] or (
                    when[right] == when[other] and turn[right] < turn[other]
                ):
                    low += 1
                    other = right
            if when[other] < time or (when[other] == time and turn[other] < mine):
                order[i] = other
                where[other] = i
                i = low
            else:
                break
        order[i] = o
        where[o] = i


def heap(keys, codes, size):
    """Make a four-way heap of what stands in any order."""
    for start in range((size + 2 >> 2) - 1, -1, -1):
        i = start
        key = keys[i]
        code = codes[i]
        while True:
            least = 4 * i + 1
            if least >= size:
                break
            for k in range(least + 1, min(least + 4, size)):
                other = keys[k]
                if other < keys[least] or (other == keys[least] and codes[k] < codes[least]):
                    least = k
            if keys[least] < key or (keys[least] == key and codes[least] < code):
                keys[i] = keys[least]
                codes[i] = codes[least]
                i = least
            else:
                break
        keys[i] = key
        codes[i] = code
