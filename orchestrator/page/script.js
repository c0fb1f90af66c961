// Commands get a button that copies them, pictures say what is pointed at, a link to a task opens its folds, and paper shows what a screen
// folds.
if (navigator.clipboard) document.addEventListener('click', e => {
  const b = e.target.closest('.cmd button');
  if (b) navigator.clipboard.writeText(b.previousElementSibling.textContent).then(() => {
    b.textContent = 'copied';
    setTimeout(() => b.textContent = 'copy', 1500);
  });
});
function buttons(of) {
  if (navigator.clipboard) for (const b of of.querySelectorAll('.cmd button')) {
    b.hidden = false;
    b.setAttribute('aria-label', 'copy ' + b.previousElementSibling.textContent);
  }
}
function show() {
  const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let e = at; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  if (at) at.scrollIntoView({block: 'nearest'});
}
function say(e) {
  const part = e.target.closest('svg.relay .n, svg.relay rect'), text = part && part.querySelector('title');
  const caption = text && part.closest('details').querySelector('.caption');
  if (caption) caption.textContent = text.textContent;
}
addEventListener('focusin', say);
addEventListener('mouseover', say);
buttons(document);
addEventListener('hashchange', show);
show();
addEventListener('beforeprint', () => {
  for (const d of document.querySelectorAll('.group')) d.open = true;
});
