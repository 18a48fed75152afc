/**
 * The bare limit of event streams: node:http that answers every request with Server-Sent Events. The path is the number of a
 * source. Each source writes an event to its followers at its interval in milliseconds, 0 for never. There is no journal and
 * no keep-alive comment.
 */
import { createServer, type ServerResponse } from 'node:http';

const [port = '', sources = '[]'] = process.argv.slice(2);
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
};
const SESSION = 'ses_01KAJ8QW4N2R6T0V3X5Z7B9D1F';

/** An event of the length of a message delta of the service. */
function eventOf(seq: number, time: string): string {
  const data =
    `{"event_id":"evt_01KAJ8QW4N2R6T0V3X5Z7B9D1F","session_id":"${SESSION}","seq":${seq},` +
    `"type":"agent.message_delta","turn_id":"trn_01KAJ8QW4N2R6T0V3X5Z7B9D1F",` +
    `"created_at":"${time}","actor":{"type":"agent","id":"agt_01KAJ8QW4N2R6T0V3X5Z7B9D1F"},` +
    `"data":{"message_id":"msg_01KAJ8QW4N2R6T0V3X5Z7B9D1F","index":${seq},"delta":"and then "}}`;
  return `id: ${seq}\nevent: agent.message_delta\ndata: ${data}\n\n`;
}

interface Follower {
  response: ServerResponse;
  seq: number;
}

const followers = new Map<string, Set<Follower>>();
const paces = JSON.parse(sources) as number[];
for (const [index, everyMs] of paces.entries()) {
  const own = new Set<Follower>();
  followers.set(`/${index}`, own);
  const speak = () => {
    const time = new Date().toISOString();
    for (const one of own) one.response.write(eventOf(++one.seq, time));
  };
  // Sources start at different times.
  if (everyMs > 0) setTimeout(() => setInterval(speak, everyMs), everyMs * (index / paces.length));
}

const server = createServer(({ url = '' }, response) => {
  const own = followers.get(url);
  if (!own) return void response.writeHead(404).end();
  response.writeHead(200, HEADERS);
  response.write('retry: 2000\n\n');
  response.write('event: stream.caught_up\ndata: {"seq":0}\n\n');
  const follower = { response, seq: 0 };
  own.add(follower);
  response.once('close', () => own.delete(follower));
});
server.listen(Number(port), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
