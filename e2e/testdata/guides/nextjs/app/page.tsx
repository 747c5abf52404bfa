'use client';
import { useState } from 'react';

export default function Page() {
  const [email, setEmail] = useState('');
  const [code, setCode] = useState('');
  const [text, setText] = useState('');
  const post = (path: string, body: object) => fetch(path, { method: 'POST', body: JSON.stringify(body) });
  return <main>
    <label>E-mail <input value={email} onChange={(e) => setEmail(e.target.value)} /></label>
    <button onClick={() => post('/signup', { email })}>Sign up</button>
    <label>Code <input value={code} onChange={(e) => setCode(e.target.value)} /></label>
    <button onClick={async () => setText((await post('/confirm', { email, code })).ok ? 'Welcome' : 'Wrong')}>Confirm</button>
    <p>{text}</p>
  </main>;
}
