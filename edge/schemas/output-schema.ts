import { Type } from 'typebox';
import { AnyObject } from './common.ts';

/** A JSON Schema in a request or response. The services check it. */
export const OutputSchema = Type.Union([AnyObject('A JSON Schema object.'), Type.Boolean()], {
  title: 'OutputSchema',
  description:
    'The JSON Schema (2020-12 or draft 07) of the answer: at most 64 KiB of JSON and 32 levels deep, with references only ' +
    'to its own parts. The last message of the turn then has the answer as JSON value in `output`.',
  examples: [{ type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }],
});
