import { type Clock, wait } from '../../../../lib/clock.ts';
import type { OperatorTransport } from '../../../../lib/outbound/operator-transport.ts';
import type { InboundFile } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { bytesOf, tooLarge } from '../download.ts';
import type { OutboundFile } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { connectionError, rateLimited, statusError } from './errors.ts';
import { isSlackUrl } from './hosts.ts';
import type { WebApi } from './vendor-clients.ts';

const TRANSFER_MS = 120_000;
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Completed uploads take a moment to appear. */
const COMPLETION_CHECKS_MS = [0, 500, 2_000];

interface FilesOptions {
  api: WebApi;
  clock: Clock;
  apiUrl: string;
  transport: Pick<OperatorTransport, 'fetch'>;
  maxBytes: number;
}

/** Downloads and uploads. URLs that Slack names are used only if they lead to Slack. */
export class SlackFiles {
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  async download(file: InboundFile, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { maxBytes } = this.#options;
    const { url, size } = file.url === '' ? await this.#describe(file, signal) : file;
    if (size > maxBytes) throw tooLarge(maxBytes);
    const response = await this.#get(url, AbortSignal.any([signal, AbortSignal.timeout(TRANSFER_MS)]));
    try {
      if (!response.ok) throw refusalOf(response);
      if (isLoginPage(response)) throw loginRequired();
      if (Number(response.headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes);
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
    return bytesOf(response, { maxBytes, product: 'Slack' }, signal);
  }

  async upload(file: OutboundFile, signal: AbortSignal): Promise<string> {
    const { api } = this.#options;
    if (file.size === 0) throw new ProductError('refused', 'Slack takes no empty files.');
    const { upload_url: url = '', file_id: id = '' } = await retriable(
      api.call(
        (client) => client.files.getUploadURLExternal({ filename: file.name, length: file.size }),
        signal,
      ),
    );
    await this.#send(url, file, signal);
    const { place: channel_id, thread } = file.place;
    const files: [{ id: string; title: string }] = [{ id, title: file.name }];
    try {
      await api.call(
        (client) =>
          client.files.completeUploadExternal(
            thread === '' ? { files, channel_id } : { files, channel_id, thread_ts: thread },
          ),
        signal,
        { creates: true },
      );
    } catch (error) {
      const isLost = error instanceof ProductError && error.kind === 'ambiguous';
      if (!isLost || !(await this.#isComplete(id, signal))) throw error;
    }
    return id;
  }

  /** Events have only the id of some files, such as those of other organizations. */
  async #describe({ fileId }: InboundFile, signal: AbortSignal) {
    const { file } = await this.#options.api
      .call((client) => client.files.info({ file: fileId }), signal)
      .catch((error: unknown) => {
        if (error instanceof ProductError && (error.kind === 'refused' || error.kind === 'unauthorized'))
          throw new ProductError('gone', error.message);
        throw error;
      });
    return { url: file?.url_private_download ?? file?.url_private ?? '', size: file?.size ?? 0 };
  }

  /** The token is sent to the first origin only. Redirects stay at Slack. */
  async #get(url: string, signal: AbortSignal): Promise<Response> {
    const { api, apiUrl, transport } = this.#options;
    if (!isSlackUrl(url, apiUrl)) throw new ProductError('gone', 'The file is not stored at Slack.');
    const { origin } = new URL(url);
    let target = new URL(url);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const headers = target.origin === origin ? api.authorization() : {};
      const response = await transport
        .fetch(target.href, { headers, redirect: 'manual', signal })
        .catch((error: unknown) => {
          signal.throwIfAborted();
          throw new ProductError('unavailable', connectionError(error).message);
        });
      const location = REDIRECTS.includes(response.status) ? response.headers.get('location') : null;
      if (location === null) return response;
      await response.body?.cancel();
      const next = URL.canParse(location, target.href) ? new URL(location, target.href) : undefined;
      if (!next || !isSlackUrl(next.href, apiUrl) || next.searchParams.has('redir')) throw loginRequired();
      target = next;
    }
    throw new ProductError('gone', 'Slack redirects the download too often.');
  }

  /** Bytes that were sent twice have no effect, because the upload is completed once. */
  async #send(url: string, { size, read }: OutboundFile, signal: AbortSignal): Promise<void> {
    const { apiUrl, transport } = this.#options;
    if (!isSlackUrl(url, apiUrl))
      throw new ProductError('unavailable', 'The address for the upload does not lead to Slack.');
    let failure: unknown;
    async function* bytes() {
      try {
        yield* read();
      } catch (error) {
        failure = error;
        throw error;
      }
    }
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
      body: ReadableStream.from(bytes()),
      duplex: 'half',
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TRANSFER_MS)]),
    } as const;
    const response = await transport.fetch(url, request).catch((error: unknown) => {
      signal.throwIfAborted();
      // The file itself could not be read.
      if (failure !== undefined) throw failure;
      throw new ProductError('unavailable', connectionError(error).message);
    });
    await response.body?.cancel();
    if (response.status === 429) throw rateLimited(retryAfterOf(response));
    if (!response.ok) throw new ProductError('unavailable', statusError(response.status).message);
  }

  /** Whether a completion without an answer had its effect. Unknown, and so false, without the scope files:read. */
  async #isComplete(id: string, signal: AbortSignal): Promise<boolean> {
    for (const pauseMs of COMPLETION_CHECKS_MS) {
      await wait(this.#options.clock, pauseMs, signal);
      signal.throwIfAborted();
      try {
        await this.#options.api.call((client) => client.files.info({ file: id }), signal);
        return true;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ProductError)) throw error;
        if (error.kind === 'unauthorized') return false;
      }
    }
    return false;
  }
}

/** A step without an effect that others see can be repeated although its answer was lost. */
function retriable<Result>(step: Promise<Result>): Promise<Result> {
  return step.catch((error: unknown) => {
    if (error instanceof ProductError && error.kind === 'ambiguous')
      throw new ProductError('unavailable', error.message);
    throw error;
  });
}

/** Files have a content disposition, also HTML files. */
function isLoginPage({ headers }: Response): boolean {
  const isHtml = headers.get('content-type')?.toLowerCase().startsWith('text/html') ?? false;
  return isHtml && headers.get('content-disposition') === null;
}

function refusalOf(response: Response): ProductError {
  const { status } = response;
  if (status === 429) return rateLimited(retryAfterOf(response));
  if (status >= 500) return statusError(status);
  return new ProductError('gone', `Slack answered with status ${status}.`);
}

function retryAfterOf({ headers }: Response): number {
  return Number(headers.get('retry-after') ?? Number.NaN) * 1000;
}

const loginRequired = () =>
  new ProductError('gone', 'Slack asks for a login: the app lacks the scope files:read.');
