<?php

return [
    'key' => str_repeat('x', 32), 'cipher' => 'AES-256-CBC', 'env' => env('APP_ENV', 'production'), 'debug' => true,
    'timezone' => 'UTC', 'locale' => 'en', 'url' => 'http://localhost',
    'providers' => [
        Illuminate\Bus\BusServiceProvider::class, Illuminate\Mail\MailServiceProvider::class,
        Illuminate\Foundation\Providers\FoundationServiceProvider::class,
        Illuminate\Filesystem\FilesystemServiceProvider::class, Illuminate\View\ViewServiceProvider::class,
        Illuminate\Translation\TranslationServiceProvider::class,
    ],
];
