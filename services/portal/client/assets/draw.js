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
  const drawTo = ([x, y]) => {
    pen.beginPath();
    pen.moveTo(...last);
    // A canvas draws nothing for a line without a length.
    pen.lineTo(x + 0.1, y);
    pen.stroke();
    last = [x, y];
  };
  // A picture of many strokes has too many bytes. It is made smaller until it can be sent.
  const picture = () => {
    for (let scale = 1; ; scale /= 2) {
      const copy = document.createElement('canvas');
      copy.width = canvas.width * scale;
      copy.height = canvas.height * scale;
      copy.getContext('2d').drawImage(canvas, 0, 0, copy.width, copy.height);
      const url = copy.toDataURL('image/png');
      if (url.length <= field.dataset.longest || scale <= 0.25) return url;
    }
  };
  if (field.value) {
    const drawn = new Image();
    drawn.onload = () => pen.drawImage(drawn, 0, 0, canvas.width, canvas.height);
    drawn.src = field.value;
  }
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    last = at(event);
    // A click is a dot that its reader sees. Without it an empty picture would be sent as a signature.
    drawTo(last);
    event.preventDefault();
  });
  canvas.addEventListener('pointermove', (event) => {
    if (last) drawTo(at(event));
  });
  const end = () => {
    if (last) field.value = picture();
    last = undefined;
  };
  for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, end);
  box.querySelector('button').addEventListener('click', () => {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    field.value = '';
  });
})();
