import { createBackoff, type Random } from '../../../lib/backoff.ts';
import { sha256 } from '../../../lib/digest.ts';
import type { ConversationWork, LeaseReference } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { renderTurn } from '../rendering/render.ts';
import type { RenderOptions } from '../rendering/render-options.ts';
import type { ChannelReference, OpenChannel } from '../work/channel-clients.ts';
import { isLeaseLost } from '../work/lease-lost.ts';
import type { RateLimits } from '../work/rate-limits.ts';
import { WakeUp } from '../work/wake-up.ts';
import type { WorkerContext } from '../work/worker-context.ts';
import { JournalReader } from './journal-reader.ts';
import { PostNotes } from './post-notes.ts';
import { ProductPublisher } from './product-publisher.ts';
import type { Publisher } from './publisher.ts';
import { createPulledPublisher } from './pulled-publisher.ts';
import { ShownPosts } from './shown-posts.ts';
import { storedNotice, type WantedContent, wantedContent } from './wanted-content.ts';

export interface ConversationContext extends WorkerContext {
  random: Random;
  limits: RateLimits;
  /** Called for each time that a post of this provider waits for a rate limit. */
  onRateLimit(provider: string): void;
}

/** A conversation is released when nothing has changed for this long. Events of files come after the end of their turn. */
const IDLE_MS = 1_000;
/** A queue that does not move, because it is held, holds the lease this long. A signal engages the conversation again. */
const QUEUED_IDLE_MS = 60_000;
/** Posts that wait longer than this are left to a later claim. */
const MAX_WAIT_MS = 30_000;

/** Makes the posts of one conversation agree with its journal, while this worker holds the lease. */
export class ConversationRun {
  readonly lease: LeaseReference;
  /** Milliseconds since the epoch. */
  leaseUntil: number;
  readonly #context: ConversationContext;
  readonly #reference: ChannelReference;
  readonly #work: ConversationWork;
  readonly #shown = new ShownPosts();
  readonly #notices = new Map<string, WantedContent>();
  readonly #reader: JournalReader | undefined;
  readonly #publisher: Publisher;
  readonly #changes = new WakeUp();
  readonly #lost = new AbortController();
  readonly #stopping = new AbortController();

  constructor(
    work: ConversationWork,
    reference: ChannelReference,
    leaseUntil: number,
    context: ConversationContext,
  ) {
    const { deploymentId, conversation, fence, sessionId, ownerId, toldSeq: afterSeq } = work;
    const { sessions, clock, log } = context;
    this.#work = work;
    this.#reference = reference;
    this.#context = context;
    this.leaseUntil = leaseUntil;
    this.lease = { kind: 'conversation', deploymentId, conversation, fence };
    const onChange = () => this.#changes.notify();
    if (sessionId !== '')
      this.#reader = new JournalReader({ sessions, clock, log, sessionId, ownerId, afterSeq, onChange });
    this.#publisher = this.#createPublisher();
    this.#takePosts(work);
  }

  /** Takes notices that were added since the claim. */
  update(work: ConversationWork): void {
    this.#takePosts(work);
    this.#changes.notify();
  }

  /** Another worker holds the lease: nothing more is sent or reported. */
  lose(): void {
    this.#lost.abort();
  }

  /** Ends after the request in progress and releases the lease. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Resolves when the lease has been released or lost. Never rejects. */
  async run(): Promise<void> {
    const { log } = this.#context;
    const reading = new AbortController();
    const signal = AbortSignal.any([this.#lost.signal, reading.signal]);
    const read = this.#reader?.run(signal);
    try {
      await this.#publish();
      if (!this.#lost.signal.aborted) await this.#release();
    } catch (error) {
      if (!this.#lost.signal.aborted && !isLeaseLost(error))
        log.warn({ err: error }, 'a conversation was given up; another claim continues it');
    } finally {
      reading.abort();
      await read;
      this.#reference.release();
    }
  }

  async #publish(): Promise<void> {
    const { clock, log } = this.#context;
    const { signal: lost } = this.#lost;
    const ended = AbortSignal.any([lost, this.#stopping.signal]);
    const backoff = createBackoff(clock);
    let idleSince: number | undefined;
    while (!ended.aborted) {
      let delay: number | undefined;
      try {
        delay = await this.#publisher.step(this.#wanted(), lost);
        backoff.reset();
      } catch (error) {
        if (ended.aborted || isLeaseLost(error)) throw error;
        log.info({ err: error }, 'a post could not be reported; the channel worker reports it again');
        await backoff.pause(ended);
        continue;
      }
      if (delay === 0) {
        idleSince = undefined;
        continue;
      }
      const isQuiet = (delay === undefined || delay > MAX_WAIT_MS) && (this.#reader?.isIdle() ?? true);
      const now = clock.now().getTime();
      idleSince = isQuiet ? (idleSince ?? now) : undefined;
      const left = idleSince === undefined ? undefined : idleSince + this.#idleMs() - now;
      if (left !== undefined && left <= 0) return;
      await this.#changes.sleep(clock, least(delay, left), ended);
    }
  }

  #idleMs(): number {
    return this.#reader?.hasQueued() ? QUEUED_IDLE_MS : IDLE_MS;
  }

  #wanted(): WantedContent[] {
    const { channel } = this.#reference;
    const isPulled = channel.provider === 'http';
    const wanted = [...this.#notices.values()];
    if (!this.#reader) return wanted;
    const options = this.#renderOptions(channel, this.#reader);
    for (const turn of this.#reader.fold.turns)
      for (const post of renderTurn(turn, options)) wanted.push(wantedContent(post, isPulled));
    return wanted;
  }

  #renderOptions({ product, config, publicUrl }: OpenChannel, { fold }: JournalReader): RenderOptions {
    return {
      rules: product.rules,
      showTools: config.showTools ?? 'status',
      edits: config.edits ?? 'edit',
      filesOut: config.filesOut ?? true,
      maxFileBytes: this.#context.fileMaxBytes,
      consoleUrl: `${publicUrl}/sessions/${this.#work.sessionId}`,
      nameOf: (account) => fold.nameOf(account),
      digest: sha256,
    };
  }

  #takePosts({ posts }: ConversationWork): void {
    const { disarm } = this.#reference.channel.product.rules;
    for (const state of posts) {
      const isNotice = state.kind === 'notice' && state.turnId === '';
      // A request in progress knows more than the stored state.
      if (isNotice ? this.#notices.has(state.postId) : this.#hasPost(state.postId)) continue;
      this.#shown.store(state);
      if (isNotice) this.#notices.set(state.postId, storedNotice(state, disarm));
    }
  }

  #hasPost(postId: string): boolean {
    for (const [, shown] of this.#shown) if (shown.postId === postId) return true;
    return false;
  }

  #createPublisher(): Publisher {
    const { deployments, clock, random, log, files, limits, onRateLimit } = this.#context;
    const { channel } = this.#reference;
    const {
      conversation,
      sessionId,
      ownerId,
      place = { place: '', thread: '', isGroup: false },
    } = this.#work;
    const shown = this.#shown;
    const notes = new PostNotes(deployments, this.lease);
    if (channel.provider === 'http') {
      const paceMs = channel.product.rules.editIntervalMs(place);
      return createPulledPublisher({ clock, shown, notes, conversation, sessionId, paceMs });
    }
    return new ProductPublisher({
      ...{ clock, random, log, files, channel, limits, shown, notes, place, sessionId, ownerId },
      onRateLimit: () => onRateLimit(channel.provider),
    });
  }

  async #release(): Promise<void> {
    await this.#publisher.flush(this.#lost.signal);
    const open = this.#publisher.openTurns(this.#wanted());
    const toldSeq = this.#reader?.toldSeq(open) ?? this.#work.toldSeq;
    await this.#context.deployments.releaseLease({ lease: this.lease, toldSeq });
  }
}

function least(first: number | undefined, second: number | undefined): number | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return Math.min(first, second);
}
