import { describe, expect, it } from 'vitest';
import { malformedSubjects } from '../../scripts/commits/subjects.ts';

const problemsOf = (subject: string) => malformedSubjects([`abc1234 ${subject}`]);

describe('commit subjects', () => {
  it.each([
    'edge: serve .ts files as text, not video/mp2t',
    'sessions: lock the row before merging metadata',
    'lib/db: embed PostgreSQL 18.4',
    'runner: need no sandbox for file tools',
    'sessions, runner: skip locked heads on the optimistic path',
  ])('accepts "%s"', (subject) => {
    expect(problemsOf(subject)).toEqual([]);
  });

  it.each([
    ['no area', 'lock the row before merging metadata'],
    ['an area in capitals', 'Sessions: lock the row'],
    ['a sentence', 'A program in TypeScript is no film'],
    ['a capitalised summary', 'sessions: Lock the row'],
    ['a full stop', 'sessions: lock the row.'],
    ['the past tense', 'sessions: locked the row'],
    ['the gerund', 'sessions: locking the row'],
    ['more than 72 characters', `sessions: ${'lock the row '.repeat(6).trim()}`],
    ['an empty summary', 'sessions: '],
  ])('rejects a subject with %s', (_name, subject) => {
    expect(problemsOf(subject)).toEqual([expect.objectContaining({ commit: 'abc1234', subject })]);
  });
});
