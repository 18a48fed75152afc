/** The bare limit of webhooks in one process. */
import { isSigned, openStore, serve } from './bare-webhook.ts';

const [url = '', secret = '', port = ''] = process.argv.slice(2);
const store = await openStore(url);
serve(Number(port), (request) => (isSigned(request, secret) ? store(request.body) : undefined));
