import { describe, expect, it } from 'vitest';
import { coreLimitOption } from '../../../../services/runner/kernel/core-limit.ts';

const limits = (soft: string, hard: string) =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max stack size            8388608              unlimited            bytes     ',
    `Max core file size        ${soft.padEnd(20)} ${hard.padEnd(20)} bytes     `,
    'Max processes             96280                96280                processes ',
  ].join('\n');

describe('limit of core dumps of commands', () => {
  it('is one byte, so that the kernel passes no dump to a handler', () => {
    expect(coreLimitOption(limits('0', 'unlimited'))).toBe('--core=1:1');
    expect(coreLimitOption(limits('1', '1'))).toBe('--core=1:1');
  });

  it('stays zero where the hard limit is zero, because it cannot be raised without privileges', () => {
    expect(coreLimitOption(limits('0', '0'))).toBe('--core=0:0');
  });
});
