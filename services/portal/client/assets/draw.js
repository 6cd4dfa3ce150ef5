(() => {
  const box = document.querySelector('.draw'),
    canvas = box?.querySelector('canvas'),
    pen = canvas?.getContext('2d');
  if (!pen) return;
  const field = box.querySelector('input');
  let last;
  box.hidden = false;
  Object.assign(pen, { lineWidth: 4, lineCap: 'round', lineJoin: 'round', strokeStyle: '#10202a' });
  const at = ({ clientX, clientY }) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [((clientX - left) * canvas.width) / width, ((clientY - top) * canvas.height) / height];
  };
  if (field.value) {
    const drawn = new Image();
    drawn.onload = () => pen.drawImage(drawn, 0, 0);
    drawn.src = field.value;
  }
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    last = at(event);
    event.preventDefault();
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!last) return;
    const next = at(event);
    pen.beginPath();
    pen.moveTo(...last);
    pen.lineTo(...next);
    pen.stroke();
    last = next;
  });
  const end = () => {
    if (last) field.value = canvas.toDataURL('image/png');
    last = undefined;
  };
  for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, end);
  box.querySelector('button').addEventListener('click', () => {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    field.value = '';
  });
})();
