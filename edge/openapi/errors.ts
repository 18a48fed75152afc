import { ERRORS, type ErrorCode } from '../../lib/errors.ts';

/** One response for each status, which lists the codes that come with it. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, object> {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status);
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    sorted.map(([status, names]) => [
      String(status),
      {
        description: names.map((name) => `\`${name}\`: ${ERRORS[name].about}`).join(' '),
        content: {
          'application/json': {
            schema: {
              allOf: [
                { $ref: '#/components/schemas/ErrorEnvelope' },
                { properties: { code: { enum: names } } },
              ],
            },
          },
        },
      },
    ]),
  );
}

/** The schema of the error envelope, a component of the document. */
export const ERROR_ENVELOPE = {
  type: 'object',
  description: 'Every answer that is not a success.',
  required: ['code', 'message', 'data', 'error'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    data: {
      anyOf: [
        { type: 'null' },
        {
          type: 'object',
          required: ['retry_after_seconds'],
          properties: { retry_after_seconds: { type: 'integer' } },
        },
      ],
    },
    error: {
      type: 'object',
      required: ['code', 'status_code', 'category', 'retryable', 'owner', 'user_message'],
      properties: {
        code: { type: 'string' },
        status_code: { type: 'integer' },
        category: { enum: ['request', 'auth', 'state', 'limit', 'dependency', 'internal'] },
        retryable: { type: 'boolean' },
        owner: { enum: ['client', 'operator', 'platform', 'provider'] },
        user_message: { type: 'string' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['pointer', 'message'],
            properties: { pointer: { type: 'string' }, message: { type: 'string' } },
          },
        },
        request_id: { type: 'string' },
      },
    },
  },
};
