import type {
  LeaseReference,
  PostNote,
  PostState,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { MovedPlace } from '../products/product.ts';
import type { WorkerContext } from '../work/worker-context.ts';
import type { ShownPost } from './shown-posts.ts';

export type PostChange = Pick<PostNote, 'state'> & Partial<Omit<PostNote, 'state'>>;

/** Reports the states of posts of one conversation under its lease. */
export class PostNotes {
  readonly #deployments: WorkerContext['deployments'];
  readonly #lease: LeaseReference;

  constructor(deployments: WorkerContext['deployments'], lease: LeaseReference) {
    this.#deployments = deployments;
    this.#lease = lease;
  }

  /** Returns the stored states in the order of the notes. `moved`: the new place of the conversation. */
  async write(notes: readonly PostNote[], signal: AbortSignal, moved?: MovedPlace): Promise<PostState[]> {
    const { deploymentId, conversation, fence } = this.#lease;
    const request = { deploymentId, conversation, fence, posts: [...notes], ...movedMembers(moved) };
    return (await this.#deployments.notePosts(request, { signal })).posts;
  }
}

function movedMembers(moved: MovedPlace | undefined) {
  return { movedTo: moved?.place, movedReason: moved?.reason ?? '' };
}

export function noteOf({ postId, turnId, kind, part, key }: ShownPost, change: PostChange): PostNote {
  return {
    ...{ postId, turnId, kind, part, key },
    ...{
      externalId: '',
      shownSha256: '',
      maybeDuplicate: false,
      error: '',
      nextAt: undefined,
      content: undefined,
    },
    ...change,
  };
}
