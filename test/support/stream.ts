/** One frame of an event stream. */
export interface Frame {
  id: string | undefined;
  event: string | undefined;
  data: string | undefined;
}

/** Reads an event stream until it ends or `enough` returns true, which is called after every frame. Comments are skipped. */
export async function readStream(
  url: string,
  enough: (frames: Frame[]) => boolean,
  headers: Record<string, string> = {},
): Promise<Frame[]> {
  const disconnect = new AbortController();
  const response = await fetch(url, { headers, signal: disconnect.signal });
  if (!response.ok || !response.body)
    throw new Error(`the stream answered ${response.status}: ${await response.text()}`);
  const frames: Frame[] = [];
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop() ?? '';
    for (const frame of parts.map(frameOf)) {
      if (!frame) continue;
      frames.push(frame);
      if (!enough(frames)) continue;
      disconnect.abort();
      return frames;
    }
  }
  return frames;
}

function frameOf(text: string): Frame | undefined {
  const fields = new Map(
    text
      .split('\n')
      .filter((line) => !line.startsWith(':') && !line.startsWith('retry'))
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')] as const;
      }),
  );
  if (fields.size === 0 || (fields.size === 1 && fields.has(''))) return undefined;
  return { id: fields.get('id'), event: fields.get('event'), data: fields.get('data') };
}
