import type { KnownTool } from './tool.ts';

type Kind = Pick<KnownTool, 'usesWorkspace' | 'kind'>;

/**
 * The calls of one step, in the order in which the model has named them: those that only read the workspace run beside
 * each other; one that may change it waits for all before it, and all after it wait for it. A call that somebody has
 * to decide about keeps its place: what would have to wait for it is not begun. Others wait for nobody.
 */
export class CallOrder {
  /** Settles when the last call that may change something has. */
  #changed: Promise<unknown> = Promise.resolve();
  /** Of the calls behind that one. */
  #read: Promise<unknown>[] = [];
  #heldBy: 'nobody' | 'reader' | 'writer' = 'nobody';

  /** A call has to wait, nobody knows how long. */
  hold(tool: Kind): void {
    if (tool.usesWorkspace && this.#heldBy !== 'writer')
      this.#heldBy = tool.kind.effect === 'read' ? 'reader' : 'writer';
  }

  /** Whether a call has to wait for one that waits. */
  isHeld({ usesWorkspace, kind }: Kind): boolean {
    if (!usesWorkspace || this.#heldBy === 'nobody') return false;
    return this.#heldBy === 'writer' || kind.effect !== 'read';
  }

  /** Carries a call out when its turn has come. After one that fails, those that wait for it fail in the same way. */
  async take(tool: Kind, work: () => Promise<void>): Promise<void> {
    if (!tool.usesWorkspace) return work();
    const isReader = tool.kind.effect === 'read';
    const before = isReader ? this.#changed : Promise.all([this.#changed, ...this.#read]);
    const done = before.then(work);
    if (isReader) this.#read.push(done);
    else {
      this.#changed = done;
      this.#read = [];
    }
    await done;
  }
}
