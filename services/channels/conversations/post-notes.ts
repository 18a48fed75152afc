import type {
  ConversationPlace,
  LeaseReference,
  PostNote,
  PostState,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
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

  /** Returns the stored states in the order of the notes. `movedTo`: the new place of the conversation. */
  async write(
    notes: readonly PostNote[],
    signal: AbortSignal,
    movedTo?: ConversationPlace,
  ): Promise<PostState[]> {
    const { deploymentId, conversation, fence } = this.#lease;
    const request = { deploymentId, conversation, fence, posts: [...notes], movedTo };
    return (await this.#deployments.notePosts(request, { signal })).posts;
  }
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
