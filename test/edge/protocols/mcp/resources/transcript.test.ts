import { describe, expect, it } from 'vitest';
import {
  type TranscriptMessage,
  transcriptHead,
  transcriptMessage,
} from '../../../../../edge/protocols/mcp/resources/transcript.ts';

const SESSION_ID = 'ses_01J8Z3K4M5N6P7Q8R9S0T1V2W3';
const TIME = '2026-07-28T09:30:00.000Z';

const message = (type: string, content: TranscriptMessage['data']['content'], data: object = {}) =>
  transcriptMessage({ type, created_at: TIME, data: { content, ...data } });

describe('transcriptHead', () => {
  it('has the title as heading, on one line', () => {
    const head = transcriptHead({
      sessionId: SESSION_ID,
      title: 'Release\n## notes',
      createdAt: new Date(TIME),
    });
    expect(head).toBe(`# Release ## notes\n\nSession \`${SESSION_ID}\`, created at ${TIME}.\n`);
  });

  it('names a session without a title as such', () => {
    const head = transcriptHead({ sessionId: SESSION_ID, title: ' ', createdAt: undefined });
    expect(head).toBe(`# Untitled session\n\nSession \`${SESSION_ID}\`.\n`);
  });
});

describe('transcriptMessage', () => {
  it('has the author and the time as heading and keeps Markdown of the text', () => {
    expect(message('user.message', [{ type: 'text', text: 'List:\n\n- one\n- two\n' }])).toBe(
      `\n## User, ${TIME}\n\nList:\n\n- one\n- two\n`,
    );
    expect(message('agent.message', [{ type: 'text', text: '**Done**' }])).toBe(
      `\n## Agent, ${TIME}\n\n**Done**\n`,
    );
  });

  it('names the sender of a message from a messaging product', () => {
    const sender = { provider: 'slack', external_id: 'U1', name: 'Ada', group: true };
    expect(message('user.message', [{ type: 'text', text: 'Hi' }], { sender })).toContain(`## Ada, ${TIME}`);
  });

  it('shows tool calls on one line, in the order of the parts, and leaves out reasoning', () => {
    const text = message('agent.message', [
      { type: 'reasoning', text: 'Secret thoughts' },
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'bash', input: { command: 'ls\npwd' } },
      { type: 'text', text: 'Found it.' },
    ]);
    expect(text).toBe(
      `\n## Agent, ${TIME}\n\nI look.\n\n> Called \`bash\`: {"command":"ls\\npwd"}\n\nFound it.\n`,
    );
  });

  it('shortens long inputs of tool calls without splitting a character', () => {
    const input = { text: `${'x'.repeat(290)}${'😀'.repeat(50)}` };
    const text = message('agent.message', [
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'write_file', input },
    ]);
    expect(text).toContain('…');
    expect(text.length).toBeLessThan(400);
    expect(text.isWellFormed()).toBe(true);
  });

  it('names images and files with their type and size', () => {
    const sha256 = 'a'.repeat(64);
    const text = message('user.message', [
      { type: 'image', media_type: 'image/png', name: 'chart.png', sha256, size: 1234 },
      { type: 'file', name: 'data.csv' },
    ]);
    expect(text).toContain('> Image: chart.png (image/png, 1234 bytes)');
    expect(text).toContain('> File: data.csv\n');
  });

  it('ignores parts of types that it does not know', () => {
    const unknown = { type: 'hologram', text: 'x' } as unknown as { type: 'text'; text: string };
    expect(message('agent.message', [unknown, { type: 'text', text: 'Hi' }])).toBe(
      `\n## Agent, ${TIME}\n\nHi\n`,
    );
  });
});
