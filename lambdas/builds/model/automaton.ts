/** A part of a text; `to` is exclusive. */
export interface Range {
  from: number;
  to: number;
}

/** The columns of a state: first and last pattern that begin with its text, and its transitions. */
const firstPattern = 0;
const endPattern = 1;
const depth = 2;
/** The failure link: the state of the longest proper suffix of the text that is a prefix of a pattern. */
const fallback = 3;
/** The length of the longest pattern that ends in this state, or 0. */
const matched = 4;
/** Most states have one transition only; `branches` is the index of the others in `#branches`, or `none`. */
const code = 5;
const next = 6;
const branches = 7;
const columns = 8;

const start = 0;
const none = -1;

/**
 * Finds every occurrence of many patterns in one pass (Aho–Corasick). A state is created when a text first reaches it, so
 * patterns of megabytes cost little more than sorting them: the number of states grows with the text, up to the patterns' length.
 */
export class Automaton {
  readonly #patterns: readonly string[];
  #states = new Int32Array(columns * 256);
  #count = 0;
  readonly #branches: Map<number, number>[] = [];
  /** For each first character, the number of its state plus one, or 0: most characters of a text match no pattern. */
  readonly #fromStart = new Int32Array(0x10000);
  /** Pairs of a state without a transition and the state made for it, or `none`; used by `#advance` alone. */
  readonly #passed: number[] = [];
  /** The number of states that were read to create transitions: the cost of a text beyond its length. */
  steps = 0;

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.toSorted();
    this.#add(0, this.#patterns.length, 0);
  }

  /** For each offset at which a pattern ends, the longest occurrence; in the order of their ends. */
  occurrences(text: string): Range[] {
    const found: Range[] = [];
    let states = this.#states;
    let state = start;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      // Most characters follow the only transition of their state, or stay at the first state.
      const row = state * columns;
      if (states[row + code] === unit) state = states[row + next] ?? start;
      else {
        const known = this.#after(state, unit);
        if (known === none) {
          state = this.#advance(state, unit);
          states = this.#states;
        } else state = known;
      }
      const length = states[state * columns + matched] ?? 0;
      if (length > 0) found.push({ from: at + 1 - length, to: at + 1 });
    }
    return found;
  }

  #get(state: number, column: number): number {
    return this.#states[state * columns + column] ?? none;
  }

  #set(state: number, column: number, value: number): void {
    this.#states[state * columns + column] = value;
  }

  #after(state: number, unit: number): number {
    if (state === start) return (this.#fromStart[unit] ?? 0) - 1;
    const states = this.#states;
    const row = state * columns;
    if (states[row + code] === unit) return states[row + next] ?? none;
    const index = states[row + branches] ?? none;
    return this.#branches[index]?.get(unit) ?? none;
  }

  /** The state after one more character; creates it and the states of its failure links if needed. */
  #advance(state: number, unit: number): number {
    let from = state;
    let reached = none;
    while (reached === none) {
      this.steps += 1;
      this.#passed.push(from, this.#child(from, unit));
      if (from === start) reached = start;
      else {
        from = this.#get(from, fallback);
        reached = this.#after(from, unit);
      }
    }
    for (let made = this.#passed.pop(); made !== undefined; made = this.#passed.pop()) {
      from = this.#passed.pop() ?? start;
      if (made === none) {
        this.#connect(from, unit, reached);
      } else {
        this.#set(made, fallback, reached);
        if (this.#get(made, matched) === 0) this.#set(made, matched, this.#get(reached, matched));
        reached = made;
      }
    }
    return reached;
  }

  /** The state after this character if one of the state's patterns continues with it, else `none`. */
  #child(state: number, unit: number): number {
    const end = this.#get(state, endPattern);
    const before = this.#get(state, depth);
    const low = this.#firstFrom(this.#get(state, firstPattern), end, before, unit);
    const high = this.#firstFrom(low, end, before, unit + 1);
    if (low === high) return none;
    const child = this.#add(low, high, before + 1);
    this.#connect(state, unit, child);
    return child;
  }

  /** The first of some sorted patterns whose character at an offset is at least `unit`. */
  #firstFrom(low: number, high: number, at: number, unit: number): number {
    let first = low;
    for (let end = high; first < end; ) {
      const middle = (first + end) >>> 1;
      const pattern = this.#patterns[middle] ?? "";
      // A shorter pattern comes before those that continue it: its character is NaN, which is not at least `unit`.
      if (pattern.charCodeAt(at) >= unit) end = middle;
      else first = middle + 1;
    }
    return first;
  }

  #add(low: number, high: number, length: number): number {
    const state = this.#count;
    this.#count += 1;
    if (this.#states.length < this.#count * columns) {
      const larger = new Int32Array(this.#states.length * 2);
      larger.set(this.#states);
      this.#states = larger;
    }
    const states = this.#states;
    const row = state * columns;
    states[row + firstPattern] = low;
    states[row + endPattern] = high;
    states[row + depth] = length;
    states[row + fallback] = start;
    states[row + matched] = this.#patterns[low]?.length === length ? length : 0;
    states[row + code] = none;
    states[row + branches] = none;
    return state;
  }

  #connect(state: number, unit: number, to: number): void {
    if (state === start) {
      this.#fromStart[unit] = to + 1;
    } else if (this.#get(state, code) === none) {
      this.#set(state, code, unit);
      this.#set(state, next, to);
    } else {
      if (this.#get(state, branches) === none) this.#set(state, branches, this.#branches.push(new Map()) - 1);
      this.#branches[this.#get(state, branches)]?.set(unit, to);
    }
  }
}
