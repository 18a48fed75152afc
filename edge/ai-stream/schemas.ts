import { Type } from 'typebox';
import { AnyObject, closed, optional, text } from '../schemas/common.ts';
import { BusyPolicySchema, MessageContent } from '../schemas/content.ts';
import { overrideMembers } from '../schemas/overrides.ts';

/** A major version of AI SDK. */
export type SdkVersion = '6' | '7';

export const SDK_VERSION_HEADER = 'x-ahs-ai-sdk';

export const sdkVersion = optional(
  Type.Enum(['6', '7'], {
    description: `The major version of AI SDK in the client. Default: the header \`${SDK_VERSION_HEADER}\`, else 7.`,
  }),
);

export const onDisconnect = optional(
  Type.Enum(['continue', 'interrupt'], {
    description:
      'When the client closes the connection before the end of the stream: `continue` (default) leaves the turn running, so ' +
      'that it can be resumed; `interrupt` ends it.',
  }),
);

export const AiRequest = closed(
  {
    content: optional(MessageContent),
    busy_policy: optional(BusyPolicySchema),
    messages: optional(
      Type.Array(AnyObject('A UIMessage.'), {
        minItems: 1,
        description:
          "The messages of AI SDK's transport, instead of `content`. Only the last message is used.",
      }),
    ),
    id: optional(text('The id of the chat in the client. Ignored.')),
    trigger: optional(
      Type.Enum(['submit-message', 'regenerate-message'], {
        description:
          '`regenerate-message` replaces the last answer, like `POST …/turns/{turn_id}/regenerate`.',
      }),
    ),
    messageId: optional(
      text(
        'The id of the message in the client. With `regenerate-message`, the id of a turn names its answer.',
      ),
    ),
    ...overrideMembers,
  },
  {
    description:
      'Either `content`, or the `messages` of AI SDK, or the `trigger` to regenerate the last answer.',
  },
);
