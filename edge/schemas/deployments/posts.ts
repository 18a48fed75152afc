import { Type } from 'typebox';
import type { Post, PulledPost } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import {
  count,
  flag,
  id,
  NULL,
  nullable,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
} from '../common.ts';
import { conversationId } from './deliveries.ts';

export const POST_STATES = ['wanted', 'posting', 'posted', 'failed', 'dead'] as const;

const postKind = Type.Enum(['message', 'approval', 'notice', 'file'], { title: 'PostKind' });

export const PostShape = Type.Object(
  {
    post_id: id('pst', 'the post'),
    conversation: conversationId,
    turn_id: nullable(id('trn', 'the turn that it shows')),
    kind: postKind,
    part: count('The part of a long answer, from 0.', 0),
    state: Type.Enum([...POST_STATES], {
      description:
        '`failed`: the product refused it. `dead`: 24 hours of attempts. Both can be sent again with `resend`.',
    }),
    revision: count('Increased by each new content.'),
    external_id: nullable(text('The message as the product names it.', { examples: ['1700000000.000200'] })),
    maybe_duplicate: flag('Whether the product may show it twice, because an answer was lost.', false),
    attempts: count('The number of attempts.'),
    next_at: nullable(time('The time of the next attempt.'), NULL),
    error: nullable(text('The last problem.'), NULL),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last change.'),
  },
  { title: 'Post' },
);

export const PulledPostsShape = Type.Object(
  {
    posts: Type.Array(
      Type.Object(
        {
          post_id: id('pst', 'the post'),
          revision: count('Increased by each new content. A newer revision replaces the post.'),
          conversation: conversationId,
          kind: postKind,
          text: text('The text as Markdown.', { examples: ['The build is green.'] }),
          final: flag('Whether the turn has ended.'),
          session_id: nullable(id('ses', 'the session')),
          turn_id: nullable(id('trn', 'the turn')),
          approval: nullable(
            Type.Object(
              {
                approval_id: id('apr', 'the approval'),
                tool: text('The name of the tool.', { examples: ['shell'] }),
                input: text('The input as JSON text. Cut when it is long.', {
                  examples: ['{"command":"ls"}'],
                }),
                can_allow: flag('Whether it can be allowed here: the input is complete.'),
                decision: nullable(Type.Enum(['allowed', 'denied', 'expired']), NULL),
                decided_by: nullable(text('The name of the person who decided.'), NULL),
                console_url: text('The session in the console.'),
              },
              { title: 'PulledApproval' },
            ),
            NULL,
          ),
          file: nullable(
            Type.Object(
              {
                path: text('The path in the workspace.', { examples: ['outbox/report.pdf'] }),
                name: text('The file name.', { examples: ['report.pdf'] }),
                size: count('The size in bytes.', 1024),
                media_type: text('The media type.', { examples: ['application/pdf'] }),
                sha256: text('The SHA-256 in hexadecimal.'),
              },
              { title: 'PulledFile' },
            ),
            NULL,
          ),
        },
        { title: 'PulledPost' },
      ),
    ),
    next_after: text('The `after` of the next request.', { examples: ['17'] }),
  },
  { title: 'PulledPosts' },
);

export function serializePost(post: Post | undefined) {
  return {
    post_id: post?.postId,
    conversation: post?.conversation,
    turn_id: post?.turnId || null,
    kind: post?.kind,
    part: post?.part,
    state: post?.state,
    revision: post?.revision,
    external_id: post?.externalId || null,
    maybe_duplicate: post?.maybeDuplicate,
    attempts: post?.attempts,
    next_at: serializeTimeOrNull(post?.nextAt),
    error: post?.error || null,
    created_at: serializeTime(post?.createdAt),
    updated_at: serializeTime(post?.updatedAt),
  };
}

export function serializePulledPost({ approval, file, ...post }: PulledPost) {
  return {
    post_id: post.postId,
    revision: post.revision,
    conversation: post.conversation,
    kind: post.kind,
    text: post.text,
    final: post.final,
    session_id: post.sessionId || null,
    turn_id: post.turnId || null,
    approval: approval
      ? {
          approval_id: approval.approvalId,
          tool: approval.tool,
          input: approval.inputJson,
          can_allow: approval.canAllow,
          decision: approval.decision || null,
          decided_by: approval.decidedBy || null,
          console_url: approval.consoleUrl,
        }
      : null,
    file: file
      ? {
          path: file.path,
          name: file.name,
          size: file.size,
          media_type: file.mediaType,
          sha256: file.sha256,
        }
      : null,
  };
}
