// Long work in slices, so that the page draws frames and takes keys between them.
const SLICE = 6; // milliseconds of a slice
const STEP = 1 << 14; // passes of a loop between two looks at the clock

/** Call `act(from, until)` for the parts of a loop of `count` passes, and let other work go first between them. */
function* inParts(count, act) {
  for (let from = 0; from < count; from += STEP) {
    act(from, Math.min(from + STEP, count));
    yield;
  }
}

/** Work of one kind, as generators. New work takes the place of work that has not ended. */
class Task {
  #name;
  #changed;
  #work = null;
  #begin = 0;
  #isScheduled = false;
  #channel = new MessageChannel();
  /** `changed` is called when work begins and when it ends. */
  constructor(name, changed = () => {}) {
    [this.#name, this.#changed] = [name, changed];
    this.#channel.port1.onmessage = () => {
      this.#isScheduled = false;
      if (!this.isDone) this.#slice();
    };
  }
  get isDone() { return this.#work === null; }
  /** Do the first slice of the work now, and the others between frames. */
  start(work) {
    this.#work = work;
    this.#begin = performance.now();
    this.#changed();
    this.#slice();
  }
  /** Do all the rest now. */
  finish() { if (!this.isDone) this.#slice(Infinity); }
  #slice(most = SLICE) {
    const until = performance.now() + most;
    timed(this.#name, () => {
      do {
        if (this.#work.next().done) this.#end();
      } while (!this.isDone && performance.now() < until);
    });
    if (this.isDone || this.#isScheduled) return;
    this.#isScheduled = true;
    this.#channel.port2.postMessage(null);
  }
  #end() {
    this.#work = null;
    performance.measure(`${this.#name} in all`, { start: this.#begin, end: performance.now() });
    this.#changed();
  }
}
