import type { CreateAgentData } from '../../gen/types.gen.ts';

/** Pauses between the streamed pieces, so that the reader can follow the text. */
const STREAM = { chunk_chars: 3, delay_ms: 20 };

const DATA = `week,visitors
1,1240
2,1462
`;

const PLACEHOLDER = '_The summary is written after your approval._';

const DRAFT = `# Visitors of two weeks

${PLACEHOLDER}

| Week | Visitors |
|---|---|
| 1 | 1,240 |
| 2 | 1,462 |
`;

const SUMMARY = `The second week had **222 more visitors** than the first one, which is **17.9 % more**.

Recommendation: repeat the campaign of the second week.`;

/**
 * An agent that shows the product with a rehearsal model, which needs no API key and no sandbox: it thinks, streams a
 * text, writes and reads files, and completes a report after an approval.
 */
export const DEMO_AGENT = {
  name: 'Demo',
  description: 'Writes a short report after your approval. Plays a fixed script, without a language model.',
  model: 'rehearsal/script',
  tools: [{ name: 'edit_file', permission: 'ask' }],
  model_options: {
    steps: [
      {
        thinking:
          'The user wants to see a report. I need the visitors of both weeks, a draft, and an approval for the summary.',
      },
      {
        text: 'I compare the visitors of two weeks. First I save the numbers and the draft of a report.',
        ...STREAM,
      },
      { tool: 'write_file', input: { path: 'visitors.csv', content: DATA } },
      { tool: 'write_file', input: { path: 'report.md', content: DRAFT } },
      { text: 'Now I read the numbers.', ...STREAM },
      { tool: 'read_file', input: { path: 'visitors.csv' } },
      { thinking: '1,462 visitors minus 1,240 visitors are 222 visitors, and 222 of 1,240 are 17.9 %.' },
      {
        text: 'The second week had more visitors. Writing the summary into `report.md` needs your approval.',
        ...STREAM,
      },
      {
        tool: 'edit_file',
        input: { path: 'report.md', old_text: PLACEHOLDER, new_text: SUMMARY },
      },
      {
        text:
          'The last step reported: “{{last_tool_output}}”\n\n' +
          'Open **Files** to read `report.md`. Send another message to see this again.',
        ...STREAM,
      },
    ],
  },
} satisfies CreateAgentData['body'];
