// Parts of a page are replaced when relay serve says that they have changed. One tab of a browser listens, and tells the others.
{
  const base = document.currentScript.src.replace(/files\/script\.js$/, '');
  const here = decodeURI(location.href.split(/[?#]/)[0].slice(base.length));
  const topic = {graph: 'pictures', timeline: 'pictures', money: 'sums', runs: 'head'}[here] || here;
  const dirty = new Set();
  let since = document.body.dataset.since, busy = false;

  const page = async path => {
    const answer = await fetch(base + path);
    if (!answer.ok) throw answer.status;
    return new DOMParser().parseFromString(await answer.text(), 'text/html');
  };
  const key = e => e.id || e.querySelector?.(':scope > [id]')?.id || '';

  // morph makes one element like another, and leaves what a person has opened, focused or scrolled.
  function morph(a, b) {
    if (a.nodeType === 3) return a.data === b.data || (a.data = b.data);
    if (a.dataset?.loaded) return;
    for (const {name} of [...a.attributes]) if (name !== 'open' && !b.hasAttribute(name)) a.removeAttribute(name);
    for (const {name, value} of [...b.attributes]) if (name !== 'open' && a.getAttribute(name) !== value) a.setAttribute(name, value);
    const known = new Map();
    for (const c of a.children) if (key(c)) known.set(key(c), c);
    let at = a.firstChild;
    for (const c of [...b.childNodes]) {
      const is = c.nodeType === 1 && key(c);
      const same = is ? known.get(is) : at && at.nodeName === c.nodeName && !(at.nodeType === 1 && key(at)) ? at : null;
      if (!same || same.nodeName !== c.nodeName) { a.insertBefore(c, at); continue; }
      if (same === at) at = at.nextSibling; else a.insertBefore(same, at);
      morph(same, c);
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  async function refresh() {
    if (busy || document.hidden || !dirty.size) return;
    busy = true;
    try {
      const names = [...dirty];
      dirty.clear();
      if (here) morph(document.body, (await page(here + location.search)).body);
      else for (const name of names) {
        const old = document.getElementById('part-' + name), now = (await page('part/' + name)).body.firstElementChild;
        if (old && now) morph(old, now);
      }
      buttons(document);
      for (const d of document.querySelectorAll('details[open][data-load]')) fill(d);
    } catch { /* the next event tries again */ }
    busy = false;
    if (dirty.size) refresh(); else document.body.dataset.since = since;
  }
  function took({id, parts}) {
    since = id;
    for (const name of parts || [topic, ...[...document.querySelectorAll('[id^=part-]')].map(e => e.id.slice(5))])
      if (here ? name === topic : !name.startsWith('task/')) dirty.add(name);
    refresh();
  }

  // fill loads what a fold has left out.
  async function fill(d) {
    const rows = d.querySelector(':scope > .rows, :scope > .ask'), more = d.querySelector(':scope > p > a'), pre = d.querySelector(':scope > pre');
    if (d.dataset.load) {
      const now = (await page('rows/' + d.dataset.load)).body.firstElementChild;
      if (rows) morph(rows, now); else d.append(now);
    } else if (pre && more && !pre.textContent) {
      const now = await page(more.href.slice(base.length)).catch(() => null), next = now?.querySelector('a.more');
      pre.textContent = now ? now.querySelector('pre').textContent : 'There is nothing to show.';
      if (next) more.href = next.getAttribute('href'); else more.parentElement.remove();
      d.dataset.loaded = 1;
    }
  }
  document.addEventListener('toggle', e => e.target.open && fill(e.target), true);

  if (since) {
    const others = new BroadcastChannel(base);
    others.onmessage = ({data}) => { // a tab that has just loaded asks whether it is late
      if (!data.asks) took(data);
      else if (data.asks !== since) others.postMessage({id: since});
    };
    const listen = () => {
      const source = new EventSource(base + 'events?since=' + since);
      source.onmessage = e => {
        const news = {id: e.lastEventId, parts: JSON.parse(e.data)};
        others.postMessage(news);
        took(news);
      };
      source.onerror = () => document.body.dataset.off = 1;
      source.onopen = () => delete document.body.dataset.off;
      return source;
    };
    if (navigator.locks) navigator.locks.request(base, () => new Promise(() => listen()));
    else {
      let source;
      const turn = () => document.hidden ? source = source?.close() : source ||= listen();
      document.addEventListener('visibilitychange', turn);
      turn();
    }
    document.addEventListener('visibilitychange', refresh);
    others.postMessage({asks: since});
  }
}
