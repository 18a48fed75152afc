import type { Clock } from '../../../lib/clock.ts';
import type { PostNote, PostState } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { MovedPlace } from '../products/product.ts';
import type { PostNotes } from './post-notes.ts';

/** A postponed note is written with the next one, or with the first that comes after this time. */
const MAX_PAUSE_MS = 10_000;

/** Writes the notes of one conversation in their order, and keeps them until they are written. */
export class NoteQueue {
  readonly #notes: PostNotes;
  readonly #clock: Clock;
  #unwritten: PostNote[] = [];
  /** The newest postponed note of each post, by its id. */
  readonly #postponed = new Map<string, PostNote>();
  /** Milliseconds since the epoch. */
  #writtenAt = 0;

  constructor(notes: PostNotes, clock: Clock) {
    this.#notes = notes;
    this.#clock = clock;
  }

  /**
   * Writes these notes and all earlier ones, with the new place of the conversation if it has one. Returns the stored states
   * of all; those of `notes` are the last.
   */
  async write(notes: readonly PostNote[], signal: AbortSignal, moved?: MovedPlace): Promise<PostState[]> {
    const all = [...this.#unwritten, ...this.#postponed.values(), ...notes];
    if (all.length === 0) return [];
    this.#unwritten = all;
    this.#postponed.clear();
    const states = await this.#notes.write(all, signal, moved);
    this.#unwritten = [];
    this.#writtenAt = this.#clock.now().getTime();
    return states;
  }

  /** Writes the notes whose writing has failed. */
  async retry(signal: AbortSignal): Promise<PostState[]> {
    return this.#unwritten.length > 0 ? this.write([], signal) : [];
  }

  /**
   * Keeps a note that can be lost, and replaces an earlier one about the same post. Returns false when the note is to be
   * written now.
   */
  postpone(note: PostNote): boolean {
    if (note.postId === '' || this.#clock.now().getTime() - this.#writtenAt >= MAX_PAUSE_MS) return false;
    this.#postponed.set(note.postId, note);
    return true;
  }
}
