import type { Clock } from '../../../lib/clock.ts';
import type { Conflict } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Scan, TreeIndex, WorkspaceTree } from '../sandbox/tree.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { Desk } from './desk.ts';
import { keyOf } from './key.ts';
import { Known } from './known.ts';
import { manifestOf, parts, sourcesOf } from './manifest.ts';
import { persist } from './persist.ts';
import { receive } from './receive.ts';

/** What was kept of the changes in a tree. */
export interface Commit {
  /** The version of the workspace with them. */
  version: number;
  conflicts: Conflict[];
  /** What cannot be kept, as far as nobody has been told yet. */
  skipped: Scan['skipped'];
}

/** A workspace as it is in a sandbox, and how far it is known to be the same. Who uses it takes turns. */
export class WorkspaceCopy {
  readonly tree: WorkspaceTree;
  readonly #workspaceId: string;
  readonly #clock: Clock;
  readonly #index: TreeIndex = new Map();
  readonly #known = new Known();
  /** What is in the tree; undefined when that is not a version of the workspace. */
  #version: number | undefined;
  /** The lease under which it was used last. */
  #attached = '';
  /** What could not be kept when it was last looked for, by path, and why. */
  #skipped: ReadonlyMap<string, string> = new Map();

  constructor(workspaceId: string, tree: WorkspaceTree, clock: Clock) {
    this.#workspaceId = workspaceId;
    this.tree = tree;
    this.#clock = clock;
  }

  /** Makes the tree what the workspace is now. */
  bringUp(desk: Desk, signal: AbortSignal): Promise<void> {
    return persist(this.#clock, signal, () => this.#bringUp(desk));
  }

  async #bringUp(desk: Desk): Promise<void> {
    if (!(await this.#isThere())) this.#version = undefined;
    const { sessionId, turnId, fence } = desk.lease;
    const lease = `${sessionId} ${turnId} ${fence}`;
    if (lease !== this.#attached) {
      const { version } = await desk.attach();
      this.#attached = lease;
      if (version === this.#version) return;
    }
    const have = { workspaceId: this.#workspaceId, version: this.#version };
    // Until it is all there, it is neither the one nor the other.
    this.#version = undefined;
    const { version, isNew } = await receive(desk.checkout(have), this.tree, this.#known);
    if (isNew) await this.tree.note(this.#index);
    this.#version = version;
  }

  /**
   * Makes one new version of the workspace of what has changed in the tree. When that fails, the tree is made what
   * the workspace is before it is used again.
   */
  async commit(desk: Desk, call: Pick<ToolCall, 'turn' | 'toolUseId' | 'signal'>): Promise<Commit> {
    const base = this.#version ?? 0;
    this.#version = undefined;
    const { changes, skipped } = await this.#scan();
    const conflicts: Conflict[] = [];
    let version = base;
    let isAlone = true;
    let number = 0;
    for (const part of parts(changes)) {
      const key = keyOf(call, number++);
      const answer = await persist(this.#clock, call.signal, async () => {
        const sources = sourcesOf(part, this.tree);
        const contents = sources.length > 0 ? await desk.write(sources) : [];
        const answer = await desk.change(manifestOf(part, contents), {
          baseVersion: isAlone ? version : base,
          key,
        });
        return { ...answer, contents };
      });
      this.#known.kept(part, answer.contents);
      const reached = answer.workspace?.version ?? version;
      // Nobody else has changed anything since, so that what comes now is made on this.
      isAlone &&= reached <= version + 1;
      version = reached;
      conflicts.push(...answer.conflicts);
    }
    if (isAlone && conflicts.length === 0) this.#version = version;
    // With somebody else's changes in between, the next checkout brings all since the base.
    else if (conflicts.length === 0) this.#version = base;
    return { version, conflicts, skipped: this.#news(skipped) };
  }

  #news(skipped: Scan['skipped']): Scan['skipped'] {
    const before = this.#skipped;
    this.#skipped = new Map(skipped.map(({ path, reason }) => [path, reason]));
    return skipped.filter(({ path, reason }) => before.get(path) !== reason);
  }

  /** A command was cut off: what it has changed will not be kept, and is not there when the next one begins. */
  async discard(): Promise<void> {
    const version = this.#version;
    this.#version = undefined;
    const { changes } = await this.#scan();
    if (changes.length === 0) this.#version = version;
  }

  /** A tree that somebody has removed must not look like one in which everything was deleted. */
  async #isThere(): Promise<boolean> {
    const path = this.#known.any;
    if (path === undefined || this.#version === undefined) return true;
    try {
      for await (const _ of this.tree.read(path)) break;
      return true;
    } catch {
      return false;
    }
  }

  async #scan(): Promise<Scan> {
    const { changes, skipped } = await this.tree.scan(this.#index);
    return { changes: await this.#known.real(changes, this.tree), skipped };
  }
}
