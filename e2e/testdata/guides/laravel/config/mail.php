<?php

return [
    'default' => env('MAIL_MAILER', 'log'),
    'mailers' => [
        'smtp' => [
            'transport' => 'smtp', 'scheme' => env('MAIL_SCHEME'),
            'host' => env('MAIL_HOST', '127.0.0.1'), 'port' => env('MAIL_PORT', 2525),
            'username' => env('MAIL_USERNAME'), 'password' => env('MAIL_PASSWORD'),
        ],
        'array' => ['transport' => 'array'],
    ],
    'from' => ['address' => 'shop@example.com', 'name' => 'Shop'],
];
