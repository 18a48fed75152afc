import { createServer } from 'node:http';

/** The servers of the internet: one that answers at every address that its network has, and tells who was asked for. */
const server = createServer(({ headers }, answer) => {
  process.send?.({ asked: headers.host });
  answer.end('from afar');
});
server.listen(80, '0.0.0.0', () => process.send?.({ listens: true }));
process.once('disconnect', () => process.exit());
