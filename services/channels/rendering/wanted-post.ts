import type { PostApproval } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { FileView } from './turn-view.ts';

interface Identity {
  /** Empty for notices that are stored by deployments. */
  turnId: string;
  part: number;
  /** The approval; path and SHA-256 of a file; the key of a notice. Empty for messages. */
  key: string;
}

/** A post that the product should show. Turn, kind, part and key identify it. */
export type WantedPost = Identity & { isFinal: boolean } & (
    | { kind: 'message'; markdown: string }
    | { kind: 'approval'; markdown: string; approval: PostApproval }
    | { kind: 'notice'; markdown: string }
    | { kind: 'file'; file: FileView; content: string | undefined }
  );

/** Identifies a wanted post and its state. */
export function identityOf({ turnId, kind, part, key }: Identity & { kind: string }): string {
  return `${turnId} ${kind} ${part} ${key}`;
}
