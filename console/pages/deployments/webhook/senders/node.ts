import { literal } from './quoting.ts';

export const nodeSender = (
  url: string,
) => `// node send.mjs '{"event": "hello"}'   (Node 18 or newer, no packages)
import { createHash, createHmac } from 'node:crypto';

const url = ${literal(url)};
const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('WEBHOOK_SECRET is not set');

async function send(body) {
  // Sign exactly the bytes that are sent.
  const bytes = Buffer.from(body);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHash('sha256').update(bytes).digest('hex');
  const signature = createHmac('sha256', secret).update(\`\${timestamp}.\${digest}\`).digest('base64');
  const response = await fetch(url, {
    method: 'POST',
    body: bytes,
    headers: {
      'Content-Type': 'application/json',
      'X-WEBHOOK-TIMESTAMP': timestamp,
      'X-WEBHOOK-SIGNATURE': signature,
    },
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(\`\${response.status}: \${answer}\`);
  return answer;
}

console.log(await send(process.argv[2] ?? '{"event": "hello"}'));
`;
