/** Runs in a page of another origin. Contains the attacks that such a page can try against a service on this machine. */
globalThis.attack = { read, change, submit, popUp, follow };

/** Tries every way in which a page can load a URL. Returns the readable content of each; 'nothing' if there is none. */
async function read({ origin, agent, session, deployment }) {
  const api = `${origin}/api/v1`;
  const urls = [
    `${api}/agents`,
    `${api}/agents/${agent}`,
    `${api}/sessions/${session}`,
    `${api}/sessions/${session}/events`,
    `${api}/admin/agents/${agent}/deployments/${deployment}`,
    `${origin}/openapi.json`,
    `${origin}/docs/reference.js`,
    `${origin}/metrics`,
  ];
  const seen = [];
  for (const url of urls) {
    for (const mode of ['cors', 'no-cors']) {
      for (const credentials of ['omit', 'include']) {
        const got = await fetch(url, { mode, credentials }).then(
          async (response) => (await response.text()) || response.type,
          () => 'nothing',
        );
        seen.push({ how: `fetch ${mode} ${credentials}`, url, got });
      }
    }
    for (const tag of ['img', 'script', 'link', 'audio'])
      seen.push({ how: tag, url, got: await load(tag, url) });
    for (const tag of ['iframe', 'embed', 'object']) seen.push({ how: tag, url, got: await frame(tag, url) });
  }
  const stream = `${api}/sessions/${session}/events/stream`;
  const source = new EventSource(stream);
  seen.push({ how: 'EventSource', url: stream, got: await openOrNot(source) });
  source.close();
  const socket = new WebSocket(stream.replace('http', 'ws'));
  seen.push({ how: 'WebSocket', url: stream, got: await openOrNot(socket) });
  return seen;
}

function openOrNot(source) {
  return new Promise((resolve) => {
    source.onopen = () => resolve('open');
    source.onerror = () => resolve('nothing');
  });
}

/** Returns 'loaded' when an element has loaded the URL, otherwise 'nothing'. */
function load(tag, url) {
  const element = document.createElement(tag);
  if (tag === 'link') Object.assign(element, { rel: 'stylesheet', href: url });
  else element.src = url;
  return new Promise((resolve) => {
    element.onload = () => resolve('loaded');
    element.onloadeddata = () => resolve('loaded');
    element.onerror = () => resolve('nothing');
    document.body.append(element);
  }).finally(() => element.remove());
}

/** Returns the readable text of a frame. A frame also fires `load` when it shows the browser's error page. */
async function frame(tag, url) {
  const element = document.createElement(tag);
  element[tag === 'object' ? 'data' : 'src'] = url;
  const done = new Promise((resolve) => {
    element.onload = resolve;
    element.onerror = resolve;
  });
  document.body.append(element);
  await done;
  const inside = element.contentDocument ?? element.getSVGDocument?.();
  element.remove();
  return inside?.body?.textContent || 'nothing';
}

/** Sends every change that a page can request by itself. */
async function change({ origin, agent, session, deployment }) {
  const changes = [
    ['POST', '/agents', { name: 'Evil', model: 'rehearsal/echo' }],
    ['PATCH', `/agents/${agent}`, { name: 'Evil' }],
    ['DELETE', `/agents/${agent}`],
    ['POST', `/agents/${agent}/conversations`, { message: 'evil' }],
    ['POST', `/agents/${agent}/conversations`],
    ['POST', `/sessions/${session}/messages`, { content: 'evil' }],
    ['POST', `/sessions/${session}/archive`],
    ['PATCH', `/sessions/${session}`, { title: 'evil' }],
    ['DELETE', `/sessions/${session}`],
    ['POST', `/admin/agents/${agent}/deployments`, { type: 'webhook' }],
    ['POST', `/admin/agents/${agent}/deployments/${deployment}/disable`],
    ['DELETE', `/admin/agents/${agent}/deployments/${deployment}`],
  ];
  for (const [method, path, members] of changes) {
    const url = `${origin}/api/v1${path}`;
    const json = JSON.stringify(members);
    for (const type of ['application/json', 'text/plain', '']) {
      const body = json && new Blob([json], { type });
      for (const mode of ['cors', 'no-cors']) await fetch(url, { method, mode, body }).catch(() => {});
    }
    navigator.sendBeacon(url, json ?? '');
  }
}

/** Posts a form into a new window. */
function submit({ action, enctype }) {
  const form = document.createElement('form');
  Object.assign(form, { action, enctype, method: 'POST', target: '_blank' });
  const input = document.createElement('input');
  Object.assign(input, { name: '{"message": "evil", "title": "', value: '"}' });
  form.append(input);
  document.body.append(form);
  form.submit();
  form.remove();
}

function popUp(url) {
  window.open(url);
}

function follow(url) {
  location.assign(url);
}
