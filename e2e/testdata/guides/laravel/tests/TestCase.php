<?php

namespace Tests;

use Illuminate\Contracts;
use Illuminate\Foundation;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Mail;
use Illuminate\Support\Facades\Route;

abstract class TestCase extends Foundation\Testing\TestCase
{
    private static $codes = [];

    public function createApplication()
    {
        $app = new Foundation\Application(dirname(__DIR__));
        $app->singleton(Contracts\Http\Kernel::class, Foundation\Http\Kernel::class);
        $app->singleton(Contracts\Console\Kernel::class, Foundation\Console\Kernel::class);
        $app->singleton(Contracts\Debug\ExceptionHandler::class, Foundation\Exceptions\Handler::class);
        $app->make(Contracts\Console\Kernel::class)->bootstrap();
        Route::post('/signup', function (Request $request) {
            $code = self::$codes[$request->email] = (string) random_int(100000, 999999);
            Mail::raw("Your confirmation code is $code.", function ($mail) use ($request) {
                $mail->to($request->email)->subject('Confirm your address');
            });
        });
        Route::post('/confirm', function (Request $request) {
            abort_unless(self::$codes[$request->email] === $request->code, 403);
        });
        return $app;
    }
}
