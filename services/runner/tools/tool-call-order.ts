import type { RegisteredTool } from './tool.ts';

type OrderedTool = Pick<RegisteredTool, 'usesWorkspace' | 'kind'>;

/**
 * Orders the calls of one model step by their use of the workspace. Readers run concurrently. A writer waits for all
 * calls before it, and all later calls that use the workspace wait for the writer. A call that needs approval keeps its
 * position: calls that would have to wait for it are not started. Calls that do not use the workspace never wait.
 */
export class ToolCallOrder {
  /** Resolves or rejects with the last writer. */
  #writer: Promise<unknown> = Promise.resolve();
  /** The readers behind that writer. */
  #readers: Promise<unknown>[] = [];
  #deferred: 'none' | 'reader' | 'writer' = 'none';

  /** Keeps the position of a call that is not started. */
  defer(tool: OrderedTool): void {
    if (tool.usesWorkspace && this.#deferred !== 'writer')
      this.#deferred = tool.kind.effect === 'read' ? 'reader' : 'writer';
  }

  /** Whether the tool would have to wait for a deferred call. */
  mustWait({ usesWorkspace, kind }: OrderedTool): boolean {
    if (!usesWorkspace || this.#deferred === 'none') return false;
    return this.#deferred === 'writer' || kind.effect !== 'read';
  }

  /** Runs a call when its turn has come. When a call fails, the calls that wait for it fail with the same error. */
  async run(tool: OrderedTool, call: () => Promise<void>): Promise<void> {
    if (!tool.usesWorkspace) return call();
    const isReader = tool.kind.effect === 'read';
    const before = isReader ? this.#writer : Promise.all([this.#writer, ...this.#readers]);
    const done = before.then(call);
    if (isReader) this.#readers.push(done);
    else {
      this.#writer = done;
      this.#readers = [];
    }
    await done;
  }
}
