import { Type } from 'typebox';
import { refuseField } from '../../../lib/errors.ts';
import { IMAGE_MEDIA_TYPES } from '../../../lib/part-limits.ts';
import { createCheck } from '../../input/schema.ts';
import { optional } from '../../schemas/common.ts';
import type { ContentParts } from '../../schemas/content.ts';
import { nullish } from '../openai/parameters.ts';

/* The parameters of the methods in ProtoJSON. Members that are not used here are not checked. */

const STATES = [
  ...['UNSPECIFIED', 'SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED'],
  ...['CANCELED', 'INPUT_REQUIRED', 'REJECTED', 'AUTH_REQUIRED'],
].map((name) => `TASK_STATE_${name}`);
const id = Type.String({ minLength: 1, maxLength: 200 });
const text = nullish(Type.String({ maxLength: 2_000 }));
const historyLength = nullish(Type.Integer({ minimum: 0 }));

const Part = Type.Object({
  text: nullish(Type.String()),
  raw: nullish(Type.String()),
  url: nullish(Type.String()),
  data: optional(Type.Unknown()),
  mediaType: text,
  filename: nullish(Type.String({ maxLength: 255 })),
});

export const readSendRequest = createCheck(
  Type.Object({
    message: Type.Object({
      messageId: id,
      contextId: text,
      taskId: text,
      role: Type.Literal('ROLE_USER'),
      parts: Type.Array(Part, { minItems: 1, maxItems: 1_000 }),
    }),
    configuration: nullish(
      Type.Object({
        historyLength,
        returnImmediately: nullish(Type.Boolean()),
        taskPushNotificationConfig: optional(Type.Unknown()),
      }),
    ),
  }),
);
export type SendRequest = ReturnType<typeof readSendRequest>;

export const readTaskRequest = createCheck(Type.Object({ id, historyLength }));

export const readListRequest = createCheck(
  Type.Object({
    contextId: text,
    status: nullish(Type.Enum(STATES)),
    pageSize: nullish(Type.Integer({ minimum: 1, maximum: 100 })),
    pageToken: text,
    historyLength,
    statusTimestampAfter: nullish(Type.String({ format: 'date-time' })),
    includeArtifacts: nullish(Type.Boolean()),
  }),
);
export type ListRequest = ReturnType<typeof readListRequest>;

/** The content of a message for the agent. Refuses files by their URL with INVALID_REQUEST. */
export function contentOf({ message }: SendRequest): ContentParts {
  return message.parts.map(({ text: words, raw, url, data, mediaType, filename }, index) => {
    const at = `/message/parts/${index}`;
    const given = [words, raw, url, data].filter((value) => value !== undefined && value !== null);
    if (given.length !== 1) throw refuseField(at, 'must have exactly one of text, raw and data');
    if (typeof url === 'string') throw refuseField(`${at}/url`, 'is not supported: URLs are not fetched');
    if (typeof words === 'string') return { type: 'text', text: words };
    if (typeof raw !== 'string') return { type: 'text', text: JSON.stringify(data) };
    const name = filename ? { name: filename } : {};
    const image = IMAGE_MEDIA_TYPES.find((type) => type === mediaType);
    if (image) return { type: 'image', media_type: image, data: raw, ...name };
    return { type: 'file', media_type: mediaType || 'application/octet-stream', data: raw, ...name };
  });
}
