import { describe, expect, it } from 'vitest';
import { answerOf, questionOf } from '../../console/pages/sessions/chat/question/question.ts';
import { refusedFields } from '../../console/pages/sessions/chat/refused-fields.ts';
import { contentPartsOf } from '../../console/pages/sessions/chat/tool-output/content-parts.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City', description: 'Where to deliver.' },
    size: { type: 'string', enum: ['small', 'large'], default: 'small' },
    color: {
      type: 'string',
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'b', title: 'Blue' },
      ],
    },
    count: { type: 'integer' },
    weight: { type: 'number' },
    gift: { type: 'boolean', default: true },
  },
  required: ['city', 'count'],
};
const fields = questionOf({ question: 'What and where?', schema: SCHEMA })?.fields ?? [];

describe('questionOf', () => {
  it('reads the fields of a question with their labels, hints, choices and defaults', () => {
    expect(
      fields.map(({ name, label, hint, isRequired, initial }) => [name, label, hint, isRequired, initial]),
    ).toEqual([
      ['city', 'City', 'Where to deliver.', true, ''],
      ['size', 'size', undefined, false, 'small'],
      ['color', 'color', undefined, false, ''],
      ['count', 'count', undefined, true, ''],
      ['weight', 'weight', undefined, false, ''],
      ['gift', 'gift', undefined, false, 'true'],
    ]);
    expect(fields.map(({ input }) => input.kind)).toEqual([
      'text',
      'choice',
      'choice',
      'number',
      'number',
      'boolean',
    ]);
    expect(fields[2]?.input).toMatchObject({
      options: [
        { value: 'r', text: 'Red' },
        { value: 'b', text: 'Blue' },
      ],
    });
  });

  it.each([[null], ['text'], [{ question: 1, schema: SCHEMA }], [{ question: 'Who?' }]])(
    'returns undefined for an input of another form: %j',
    (input) => {
      expect(questionOf(input)).toBeUndefined();
    },
  );
});

describe('answerOf', () => {
  it('returns the values in the types of the fields and leaves out empty optional fields', () => {
    const { answer, problems } = answerOf(fields, { city: 'Berlin', count: '2', gift: 'false' });
    expect(problems).toEqual({});
    expect(answer).toEqual({ city: 'Berlin', size: 'small', count: 2, gift: false });
  });

  it('names required fields without a value and values that are no numbers', () => {
    const { problems } = answerOf(fields, { city: ' ', count: '1.5', weight: 'heavy' });
    expect(problems).toEqual({
      city: 'This field is required.',
      count: 'Enter a whole number.',
      weight: 'Enter a number.',
    });
  });
});

describe('refusedFields', () => {
  it('assigns the problems that the service reports to the fields of the form', () => {
    const details = [
      { pointer: '/output/city', message: 'must have at most 5 characters' },
      { pointer: '/output/a~1b', message: 'is required' },
      { pointer: '/tool_use_id', message: 'is unknown' },
    ];
    expect(refusedFields(details, 'output')).toEqual({
      city: 'The value must have at most 5 characters.',
      'a/b': 'The value is required.',
    });
  });
});

describe('contentPartsOf', () => {
  const image = { type: 'image', media_type: 'image/png', sha256: 'ab', size: 3 };

  it('separates the texts from the images and files of an output', () => {
    expect(contentPartsOf([{ type: 'text', text: 'A chart:' }, image])).toEqual({
      text: 'A chart:',
      parts: [image],
    });
  });

  it.each([['text'], [[{ type: 'text', text: 'a' }]], [[image, { type: 'other' }]], [[image, 1]], [{}]])(
    'returns undefined for an output that is no list of content parts with an image or file: %j',
    (output) => {
      expect(contentPartsOf(output)).toBeUndefined();
    },
  );
});
