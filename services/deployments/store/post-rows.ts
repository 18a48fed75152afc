import type { PostProgress } from '../domain/channels/post-state.ts';

/** A stored post. */
export interface StoredPost extends PostProgress {
  postId: string;
  deploymentId: string;
  conversation: string;
  /** Null: a notice. */
  sessionId: string | null;
  sessionOwnerId: string | null;
  /** Empty for notices without a turn. */
  turnId: string;
  kind: string;
  part: number;
  key: string;
  /** Only of notices that are not posted. */
  text: string | null;
  privateTo: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A post with the content that its channel serves. */
export interface PostWithContent extends StoredPost {
  /** Only for http: an encoded PulledPost. */
  content: Uint8Array | null;
  /** The number of the last change of the content. */
  change: number | null;
}

export const POST_COLUMNS = `
  p.post_id as "postId", p.deployment_id as "deploymentId", p.conversation, p.session_id as "sessionId",
  p.session_owner_id as "sessionOwnerId", p.turn_id as "turnId", p.kind, p.part, p.key, p.state, p.revision,
  p.external_id as "externalId", p.shown_sha256 as "shownSha256", p.maybe_duplicate as "maybeDuplicate", p.attempts,
  p.trying_since as "tryingSince", p.next_at as "nextAt", p.error, p.text, p.private_to as "privateTo",
  p.created_at as "createdAt", p.updated_at as "updatedAt"`;

/** The parts that identify a post without its id. */
export interface PostIdentity {
  turnId: string;
  kind: string;
  part: number;
  key: string;
}
