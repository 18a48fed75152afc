import { describe, expect, it } from 'vitest';
import { SharedFrames } from '../../../edge/streaming/shared-frames.ts';

const event = (seq: number) => ({ seq, type: 'agent.message', json: `{"seq":${seq},"text":"é"}` });
const text = (...seqs: number[]) =>
  seqs.map((seq) => `id: ${seq}\nevent: agent.message\ndata: {"seq":${seq},"text":"é"}\n\n`).join('');

describe('SharedFrames', () => {
  it('returns the same bytes for the same events of a session', () => {
    const frames = new SharedFrames();
    const first = frames.bytesOf('ses_1', [event(1), event(2)]);
    expect(first.toString()).toBe(text(1, 2));
    expect(frames.bytesOf('ses_1', [event(1), event(2)])).toBe(first);
  });

  it('returns other bytes for other events, other sessions and events chosen by a filter', () => {
    const frames = new SharedFrames();
    const first = frames.bytesOf('ses_1', [event(1), event(2), event(3)]);
    expect(frames.bytesOf('ses_2', [event(1), event(2), event(3)])).not.toBe(first);
    expect(frames.bytesOf('ses_1', [event(1), event(2)]).toString()).toBe(text(1, 2));
    expect(frames.bytesOf('ses_1', [event(1), event(3)]).toString()).toBe(text(1, 3));
  });
});
