import type { Clock } from '../../../lib/clock.ts';
import { abortable } from '../../../lib/grpc/abortable.ts';
import type { Log } from '../../../lib/log.ts';
import type { PinnedSkill } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SkillMount } from '../sandbox/sandbox.ts';
import { shownBytes } from '../sandbox/shown-bytes.ts';
import type { WorkspaceSize } from '../sandbox/workspace-tree.ts';
import type { SkillDirectory } from '../sandbox-providers/skill-directory.ts';
import type { ToolCallContext } from '../tool-calls/tool-call.ts';
import { applyCheckout } from './apply-checkout.ts';
import { retryTransient } from './retry-transient.ts';
import { SkillClient } from './skill-client.ts';
import { skillFailure, skillTooLarge } from './skill-failure.ts';
import type { FilesClient } from './workspace-client.ts';

interface SkillCopiesOptions {
  directory: SkillDirectory;
  files: FilesClient;
  clock: Clock;
  log: Log;
}

type Caller = Pick<ToolCallContext, 'turn' | 'signal'>;

/** Skills that a command may see until they are disposed of. */
export interface AcquiredSkills extends Disposable {
  mounts: readonly SkillMount[];
}

/** The copy of one version of a skill. */
interface SkillCopy {
  /** skl_…@<version> */
  key: string;
  /** The space that it may use on the disk. */
  bytes: number;
  users: number;
  /** Its name; undefined until it is complete. */
  name: string | undefined;
  /** Resolves when it is complete. */
  made: Promise<void>;
}

/** A file or directory uses at least this on a disk. */
const BLOCK_BYTES = 4096;

/**
 * The copies of skills of one runner: one for each version, which all commands with that version share. Copies that no
 * command uses are removed when a new one needs their space, the least recently used one first.
 */
export class SkillCopies {
  readonly #options: SkillCopiesOptions;
  /** In the order of their last use. */
  readonly #copies = new Map<string, SkillCopy>();
  #usedBytes = 0;
  /** Resolves when the copies of an earlier process are removed. */
  readonly #cleared: Promise<void>;

  constructor(options: SkillCopiesOptions) {
    this.#options = options;
    this.#cleared = this.#clear();
  }

  /**
   * Returns the skills that a turn offers. Rejects with a ToolError that begins with STORAGE_FULL, SKILL_NOT_FOUND,
   * SKILL_VERSION_NOT_FOUND or SANDBOX_UNAVAILABLE, or with a Refusal of the files service.
   */
  async acquire(caller: Caller): Promise<AcquiredSkills> {
    using acquiring = new DisposableStack();
    const mounts: SkillMount[] = [];
    for (const skill of caller.turn.skills ?? []) {
      const copy = await this.#use(skill, caller);
      acquiring.defer(() => copy.users--);
      if (copy.name !== undefined) mounts.push({ name: skill.name, copy: copy.name });
    }
    const acquired = acquiring.move();
    return { mounts, [Symbol.dispose]: () => acquired.dispose() };
  }

  /** Removes all copies. No command may run any more. */
  async close(): Promise<void> {
    await Promise.allSettled(Array.from(this.#copies.values(), ({ made }) => made));
    await this.#cleared;
    await this.#clear();
  }

  /** Returns the copy of a skill, with this caller as one of its users. */
  async #use(skill: PinnedSkill, caller: Caller): Promise<SkillCopy> {
    const key = `${skill.id}@${skill.version}`;
    for (;;) {
      const existing = this.#copies.get(key);
      const copy = existing ?? this.#begin(key, skill, caller);
      this.#copies.delete(key);
      this.#copies.set(key, copy);
      copy.users++;
      try {
        await abortable(copy.made, caller.signal);
        return copy;
      } catch (error) {
        copy.users--;
        // An existing copy was made under the lease of another turn, whose failures are not those of this turn.
        if (!existing || caller.signal.aborted) throw error;
      }
    }
  }

  #begin(key: string, skill: PinnedSkill, caller: Caller): SkillCopy {
    const copy: SkillCopy = { key, bytes: 0, users: 0, name: undefined, made: Promise.resolve() };
    copy.made = this.#make(copy, skill, caller);
    copy.made.catch(() => {});
    return copy;
  }

  /** Writes a copy under the lease of a turn. After a failure there is no copy. */
  async #make(copy: SkillCopy, skill: PinnedSkill, { turn, signal }: Caller): Promise<void> {
    const { directory, files, clock } = this.#options;
    const client = new SkillClient(files, skill, turn, signal);
    await this.#cleared;
    try {
      copy.name = await retryTransient(clock, signal, () =>
        directory.create(
          (tree) => applyCheckout(client.checkout(), tree),
          (size) => this.#reserve(copy, skill, size),
        ),
      );
    } catch (error) {
      this.#release(copy);
      this.#copies.delete(copy.key);
      throw skillFailure(error, skill.name);
    }
  }

  /** Reserves the space of a copy. Removes unused copies until there is enough. */
  async #reserve(copy: SkillCopy, { name }: PinnedSkill, size: WorkspaceSize): Promise<void> {
    const { directory } = this.#options;
    this.#release(copy);
    const bytes = size.bytes + size.files * BLOCK_BYTES;
    for (;;) {
      const left = directory.maxBytes - this.#usedBytes;
      const hasSpace = directory.hasSpaceFor({ ...size, bytes });
      if (bytes <= left && hasSpace) break;
      const unused = this.#copies.values().find((one) => one.users === 0 && one.name !== undefined);
      if (!unused)
        throw skillTooLarge(name, size, hasSpace ? `only ${shownBytes(left)} left` : 'no space left');
      await this.#remove(unused);
    }
    this.#usedBytes += bytes;
    copy.bytes = bytes;
  }

  /** The space of a copy that cannot be removed stays counted, so that such copies cannot fill the disk. */
  async #remove(copy: SkillCopy): Promise<void> {
    const { directory, log } = this.#options;
    this.#copies.delete(copy.key);
    try {
      await directory.remove(copy.name ?? '');
      this.#release(copy);
    } catch (error) {
      log.warn({ err: error, skill_version_id: copy.key }, 'the copy of a skill could not be removed');
    }
  }

  #release(copy: SkillCopy): void {
    this.#usedBytes -= copy.bytes;
    copy.bytes = 0;
  }

  async #clear(): Promise<void> {
    const { directory, log } = this.#options;
    await directory
      .clear()
      .catch((error: unknown) => log.warn({ err: error }, 'copies of skills could not be removed'));
  }
}
